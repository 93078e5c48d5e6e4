"""Whether a text is English, and whether it is a sentence, told by small words and letters: no model is needed."""

from __future__ import annotations

from recollect.text.folding import fold
from recollect.text.stopwords import AUXILIARIES, PRONOUNS, QUESTION_WORDS, STOP_WORDS
from recollect.text.terms import words

_MORE_ENGLISH = "whose may might must shall us don didn doesn isn wasn ever please tell show give got get let"
_ENGLISH = frozenset(word for word in STOP_WORDS if word.isalpha()) | frozenset(_MORE_ENGLISH.split())
_MAKE_A_SENTENCE = PRONOUNS | AUXILIARIES | QUESTION_WORDS
_LAST_LATIN = "\u024f"
_END_A_SENTENCE = (".", "!", "?", "。", "！", "？", "؟", "۔", "।")

#: Frequent small words of other languages that are written in Latin letters, without accents; single letters are
#: labels ("vitamin C or D") too often.
_SMALL_WORDS = {
    "German": """
        der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war waren wir ich du
        er sie es mir mich dir dich uns ihr ihm was wer wie wo wann warum welche welcher welches habe hast hat
        haben mein meine meinen meiner mit von vom zu zum zur fur auf aus bei nach im in an am als auch noch
        nur so wenn dass kann konnen wurde wird werden hatte gesagt gibt
    """,
    "French": """
        le la les un une des du de et ou mais ne pas est sont etait je tu il elle nous vous ils elles mon ma
        mes ton ta tes son sa ses que qui quoi quel quelle quels quelles comment quand pourquoi avec sans pour
        dans sur par au aux ce cet cette ces ai as avons avez ont qu en
    """,
    "Spanish": """
        el la los las un una unos unas de del pero no es son era fue yo tu ella nosotros mi mis su sus que
        quien cual como cuando donde por para con sin sobre en al se me te lo le les he has ha hay cuanto
        cuantos esta
    """,
    "Italian": """
        il lo la gli le un uno una di del della dei delle ma non sono era io tu lui lei noi voi loro mio mia
        miei che chi cosa come quando dove perche quale con senza per su nel nella al alla da dal ho hai ha
    """,
    "Portuguese": """
        os as um uma de do da dos das ou mas nao foi era eu tu ele ela nos meu minha meus minhas que quem qual
        como quando onde por para com sem sobre em no na nos nas ao se me te lhe tem tenho quanto
    """,
    "Dutch": """
        de het een en of maar niet is zijn was waren ik jij je hij zij we wij mijn jouw wat wie hoe waar
        wanneer waarom welke met van voor op aan bij naar uit over te om dat die deze dit heb hebt heeft
        hebben had kan
    """,
    "Swedish": """
        och eller men inte som den det ett en jag du han hon vi ni min mitt mina vad vem hur var nar varfor
        vilken med av for till fran om har hade kan ska skulle
    """,
    "Danish and Norwegian": """
        og eller men ikke som den det et en jeg du han hun vi min mitt mine hva hvad hvem hvordan hvor hvornar
        nar hvorfor hvilken med av af for til fra om er var har hadde havde kan skal
    """,
    "Polish": """
        lub ale nie jest sa byl byla to ten ta te ja ty on ona my moj moja moje co kto jak gdzie kiedy
        dlaczego ktory ktora ze we na do od po za przez czy mam ma
    """,
    "Czech": """
        nebo ale ne je jsem jsou byl byla to ten ta ja ty on ona muj moje co kdo jak kde kdy proc ktery ze ve
        na do od po za pro jsi mam ma se si
    """,
    "Turkish": """
        ve veya ama degil bir bu su ben sen biz siz benim senin ne kim nasil nerede neden hangi ile icin gibi
        kadar var yok mi mu da de
    """,
    "Indonesian": """
        dan atau tetapi tidak adalah yang ini itu saya kamu dia kami kita apa siapa bagaimana di mana kapan
        mengapa dengan untuk dari ke pada sudah akan bisa ada
    """,
    "Finnish": """
        ja tai mutta ei on ovat oli mina sina han me te minun sinun mika kuka miten missa milloin miksi joka
        etta kun jos niin
    """,
}
_FOREIGN = tuple(frozenset(small_words.split()) for small_words in _SMALL_WORDS.values())
#: Frequent small words of all these languages, English apart; folded.
FOREIGN_SMALL_WORDS = frozenset[str]().union(*_FOREIGN)

#: All of these, English ones too, as surface words: what no phrase begins or ends with.
SMALL_WORDS = _ENGLISH.union(*_FOREIGN)


def is_english(text: str) -> bool:
    """Whether the text is English rather than anything else.

    Its small words decide. Without any, or where they speak for both, it is English unless it has letters beyond ASCII.

    >>> is_english("nginx 502"), is_english("Wo ist mein Rad?"), is_english("What does 重跑 mean?")
    (True, False, True)
    """
    found = frozenset(words(text))
    english = len(found & _ENGLISH)
    foreign = _most_small_words(found) + sum(not fold(word).isascii() for word in text.split())
    if text.isascii():
        return foreign <= max(english, 1)  # one alone is hardly evidence: "la la land"
    if english != foreign:
        return english > foreign
    return not any(char.isalpha() and not char.isascii() for char in text)


def is_sentence(text: str) -> bool:
    """Whether somebody wrote a sentence, rather than a few words to look for.

    >>> is_sentence("when did we move"), is_sentence("Wo ist mein Rad"), is_sentence("nginx 502 on restart")
    (True, True, False)
    """
    if text.rstrip().endswith(_END_A_SENTENCE):
        return True
    found = frozenset(words(text))
    return bool(found & _MAKE_A_SENTENCE) or (not is_english(text) and _most_small_words(found) >= 2)


def is_foreign_script(text: str) -> bool:
    """Whether most letters are not Latin: the packaged models have read hardly anything else.

    >>> is_foreign_script("我的 nginx 配置文件在哪里"), is_foreign_script("What does 重跑 mean?")
    (True, False)
    """
    letters = [char for char in fold(text) if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)


def _most_small_words(found: frozenset[str]) -> int:
    return max(len(found & small_words) for small_words in _FOREIGN)
