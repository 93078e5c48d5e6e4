"""Age, home, origin, family status, languages, work and studies."""

from __future__ import annotations

import re

from recollect.derive.facts.claim import Polarity
from recollect.derive.facts.rules.predicate import DATE, Predicate, capital, predicate
from recollect.derive.facts.rules.words import PROFESSION, is_place, is_technical
from recollect.text.words import word_lists

_ENDED = Polarity.ENDED


def _firm(value: str) -> bool:
    return not re.match(
        r"(?i)(?:home|night|least|last|first|all|scale|times?|\d|myself|remote|fun|free|money|years|a living)\b", value
    )


_NAME = r"[A-ZÀ-ÖØ-Þ][\wà-öø-ÿ'’-]*"

_FIRMS = frozenset(word_lists("names")["firms"])

PEOPLE: tuple[Predicate, ...] = (
    predicate(
        r"^is (?:about |only )?(?P<v>\d{1,3}(?: (?:weeks|months))?)(?:[ -]years?)?[ -]old(?=\W|$)",
        "age",
        exact=True,
    ),
    predicate(r"^is (?P<v>\d{1,2})(?=[.,!]?$|[.,!] | and (?!\d|a half)| now\b)", "age", exact=True, only="people"),
    predicate(
        r"^(?:turned|is turning) (?P<v>\d{1,3})(?= (?:last|this|yesterday|today|on|in|a|now)\b|[.,!]|$)",
        "age",
        exact=True,
    ),
    predicate(rf"^(?:was|is) born (?:on )?(?P<v>{DATE})(?=\W|$)", "birthday", exact=True),
    predicate(rf"^(?:was|is) born in [A-Z][\w -]+? on (?P<v>{DATE})(?=\W|$)", "birthday", exact=True),
    predicate(r"^(?:was|is) born in (?P<v>(?:19|20)\d\d)(?=\W|$)", "birth year", exact=True),
    predicate(
        r"^(?:live|lives|is living|is based|is located|reside|resides|is residing) (?:alone |together |here |happily )?in (?P<v>.+)",
        "home",
        is_place,
        most_words=7,
    ),
    predicate(r"^(?:live|lives|is living) (?:with .{2,40}? |on (?:a|the) )in (?P<v>[A-Z].+)", "home", is_place),
    predicate(
        r"^(?:moved|relocated|has moved|has relocated) (?:back |out |over |here |house |away |down |up )?(?:from [\w ]+? )?(?:to|into) (?P<v>.+?)(?= from [A-Z]|$)",
        "home",
        is_place,
    ),
    predicate(r"^and .{2,30} live in (?P<v>.+)", "home", is_place),
    predicate(r"^is from (?P<v>[A-Z].+)", "from", is_place),
    predicate(r"^(?:grew up|was born|is born|was raised) in (?P<v>[A-Z].+)", "from", is_place),
    predicate(
        r"^is (?:happily |now |recently |officially )?(?P<v>married|divorced|widowed|separated)(?= (?:to [A-Z]|for|since|now|with|and)|[.,!]|$)",
        "marital status",
        exact=True,
        only="people",
    ),
    predicate(r"^is (?P<v>single)(?=[.,!]|$| and\b)", "marital status", exact=True, only="people"),
    predicate(
        r"^(?:got) (?P<v>married|divorced)(?= (?:last|in|on|this|yesterday|to [A-Z])|[.,!]|$)",
        "marital status",
        exact=True,
        only="people",
    ),
    predicate(rf"^(?:is|got) married to (?P<v>{_NAME}(?: {_NAME})?)", "spouse", capital, exact=True),
    predicate(rf"^(?:is|got) engaged to (?P<v>{_NAME})", "fiancé", capital, exact=True),
    predicate(
        rf"^speaks? (?:fluent |some |a little |native )?(?P<v>{_NAME}(?:(?:, | and )(?:a little |some )?{_NAME})*)",
        "speaks",
        capital,
        several=True,
    ),
    predicate(
        rf"^is an? (?P<v>(?:(?!big|huge|great|bad|good|terrible|lousy|better|real|fan|bit|little|former|retired|fellow)[\w-]+ ){{0,3}}(?:{PROFESSION}))(?=[.,;!]| at | in | and | from | by | with | for | who | based |$| –| -| specializing| now\b)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(r"^is (?P<v>retired|unemployed|self-employed)(?=\W|$)", "job", exact=True, only="people"),
    predicate(
        r"^(?:work|works|is working|has worked) as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:at|for|in|with|and|since|on|from|of)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?:work|works|is working|has worked) (?:at|for) [^,.]{2,40}? as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:in|with|and|since|on|from|of)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?P<v>teach(?:es)? [\w ]{3,40}?)(?= (?:and|but|to|every|on)\b|[.,;!]|$)",
        "job",
        lambda v: not is_technical(v),
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?:start|started|got|has started) (?:a |my |his |her )?(?:new )?(?:job|position|role) as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:at|for|in|with|and|last|this|on)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(r"^(?:got|was|has been|is) promoted to (?P<v>.+)", "job", only="people"),
    predicate(
        r"^lost (?:my|his|her) job as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,2}?)(?= (?:at|for|yesterday|last|this|in)\b|[.,;!]|$)",
        "job",
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:work|works|is working|has worked) (?:at|for) (?P<v>.+?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        r"^.{2,60}? as an? [\w -]{3,30}? (?:at|for) (?P<v>[A-Z].*?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        rf"^is an? [\w -]{{0,40}}?(?:{PROFESSION}) (?:at|for) (?P<v>[A-Z].*?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        r"^(?:start|started|joined|began) (?:a |my |his |her )?(?:new )?(?:job |position |role |working |work )?(?:at|with|for) (?P<v>[A-Z].*)",
        "employer",
        _firm,
    ),
    predicate(r"^joined (?P<v>[A-Z].*) as\b", "employer", _firm),
    predicate(
        r"^(?:quit|left|resigned from|lost|got laid off from|was laid off from|was fired from) (?:my |his |her )?(?:job |position |role )?(?:at |with |from )(?P<v>[A-Z].*)",
        "employer",
        _firm,
        polarity=_ENDED,
    ),
    predicate(
        r"^left (?P<v>[A-Z][\w&.-]+)(?= (?:in|last|after|for|this)\b|[.,!]|$)",
        "employer",
        lambda v: v.lower() in _FIRMS,
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:study|studies|is studying|major in|majors in|is majoring in) (?P<v>[\w][\w ]{2,30}?)(?= (?:at|in|for|and|with|this)\b|[.,;!]|$)",
        "studies",
        lambda v: not re.match(r"(?i)(?:for|the|this|that|it|how|my|hard|a|an|abroad|with|at|in|together)\b", v),
        exact=True,
    ),
)
