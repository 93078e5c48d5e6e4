"""Signs of what a sentence is: that it holds a time, a number, a place, a reason or a choice; that it only greets."""

from __future__ import annotations

import re

from recollect.text.dates import ANY_MONTH, ANY_WEEKDAY


def _signs(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


NUMBER = _signs(
    r"\d | \b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|half|hundred|thousand|once|twice)\b"
    r" | [一二三四五六七八九十]"
)
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
#: How something is, and that it is so for a day alone.
STATE = _signs(r"\b(?: is|are|am | has|have | costs?|weighs?|lasts?|charges? )\b | ['’](?:s|m|re)\b")
PASSING = _signs(
    r"\b(?: today|tonight|yesterday|tomorrow | this\ (?:morning|afternoon|evening|week|month|time) | currently\ at"
    r" | was|were|had )\b | \?"
)
TIME = _signs(
    rf"""\b(?:19|20)\d\d\b | \b\d{{1,2}}(?: :\d\d | \s?[ap]m\b | (?:st|nd|rd|th)\b ) | \b(?:
        {ANY_MONTH}
      | {ANY_WEEKDAY} | today|tonight|yesterday|tomorrow | ago|last|next
      | week(?:end|s)?|month|years? | spring|summer|autumn|winter | morning|evening | since|until
    )\b | \d+[月日年号] | 昨天|今天|明天|上周|下周"""
)
PLACE = re.compile(r"\b(?:in|at|to|from|near|on|by)\s+(?:the\s+)?[A-Z]\w+|\b(?:street|road|city|town|park|beach)\b")
#: That a reason is given, plainly or by the way.
CAUSE = _signs(
    r"""\b(?:
        because|since|therefore|hence | so\ that | due\ to | thanks\ to | in\ order\ to | the\ (?:main\ )?reasons?
      | deciding | which\ (?:is\ why|means) | that(?:'s|\ is)\ why | the\ point\ is | inspired
    )\b | 因为|所以|由于|为了"""
)
REASON = _signs(
    CAUSE.pattern
    + r""" | \b(?:
        otherwise | so\ (?:i|we)\b | instead\ of | rather\ than | better|cheaper|simpler|easier|faster|safer
      | benefits?|advantages?|drawbacks? | matters?|important | need(?:s|ed)? | want(?:s|ed)?\ to | makes?
      | reminds? | love[sd]? | hope
    )\b"""
)
CHOICE = _signs(
    r"""\b(?:
        decid(?:ed|e|ing) | decision | chose|chosen | (?:i|we)['’]?(?:ll|d)?\ (?:go|choose|pick|use|take|keep|stay|drop)
      | (?:going|go|went|gone)\ (?:with|for) | settled?\ (?:on|for) | picked|opted|agreed|dropped
      | let['’]s\ (?:go|use|take|do|keep|drop) | switch(?:ed|ing)?\ to | mov(?:ed|ing)\ to | ended\ up
      | no\ \w+\ for\ now | signed|bought|booked|ordered|hired|accepted|rejected|cancelled
    )\b | 决定|选择了?|最终"""
)
ASKS_WHY = _signs(r"\bwhy\b | \bhow\ come\b | \breasons?\b | 为什么|原因")

#: How questions begin, and what one says that tells something as well.
QUESTION = _signs(
    r"""\W*(?:(?:and|so|but|also|then|or|ok(?:ay)?|hey|hi|great|thanks|well|now|hmm)\b[,:!.\ ]*){0,3}(?:
        what|which|who|whom|whose|when|where|why|how | is|are|was|were|am | do|does|did
      | can|could|would|will|shall|should|may|might | has|have|had | any|if
    )\b | [^?]{0,200}[吗呢么][?？]"""
)
UNMARKED = _signs(
    r"""\W*(?:(?:and|so|but|ok(?:ay)?|now|hi|hey)\b[,:.\ ]*){0,2}(?:
        (?:what|which|how|why|who|where)\b(?!.*[.!:;…]\s*$)
      | how\ (?:do|can|to)\b | (?:can|could|should|do|does)\ (?:i|we|you)\b
    )[^.!]*$"""
)
TELLS = _signs(r"\b(?:i|we)(?:['’](?:m|ve|d)|\ (?:am|was|have|had|want(?:ed)?|need(?:ed)?|got|made|just))\b")

GREETING = _signs(
    r"""(?:\W*(?:
        hi|hey|hello | thanks?|thank\ you | so\ much|a\ lot|very\ much | sure|great|ok(?:ay)?|wow|nice|cool|done|right
      | yes|yeah|yep|no|nope | good\ (?:question|morning|idea|plan|catch|choice|point|luck) | got\ it | of\ course
      | absolutely|certainly|exactly|agreed|perfect|awesome | bye|take\ care | you['’]re\ welcome
      | sounds\ (?:good|great) | that['’]s\ (?:so\ |really\ )?(?:great|awesome|amazing|cool|good|nice)
      | for\ (?:the|your)\ (?:help|advice|tips?|information)
    )\b)*\W*"""
)
OFFER = _signs(
    r"""\W*(?:
        (?:i\ )?hope\ (?:this|that|it)\ helps? | let\ me\ know | feel\ free | happy\ to\ help | would\ you\ like
      | do\ you\ want\ me\ to | i['’](?:d|ll)\ be\ happy | shall\ i\b | if\ you\ have\ any | good\ luck
      | if\ you\ (?:need|want|like)\b.{0,60}(?:let\ me\ know|ask|tell\ me)
    )"""
)
REFERS = _signs(
    r"""\W*(?:
        it|its|it's | they|their|they're|them | this|that|that's|those|these | he|she|his|her | there|then
      | so|but|and|also|however|instead|otherwise|therefore|because | both|such|neither|either|same|one|which|or
      | yes|no|yeah|yep|sure
    )\b | \W*(?:它|他|她|这|那|但|所以|因此|而且)"""
)
CODE = re.compile(r"[{}<>;=\\|$]|\(\)|->")
#: A name with which some exports begin each message.
LABEL = re.compile(r"\W{0,2}[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,2}:\s+")
