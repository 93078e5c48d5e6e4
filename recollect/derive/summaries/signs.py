"""Words that tell what kind of sentence it is, in the languages that most is written in: looked up, not understood.

All are surface words as `recollect.text.terms.words` gives them: folded, and of Chinese and Japanese two characters.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Somebody speaks of themselves.
OWN = _words("""
    i im ive id ill m my mine myself me we our ours us ich mein meine meinen meiner mir mich wir uns unser
    unsere je j mon ma mes moi nous notre nos yo mi mis nosotros nuestro nuestra io mio mia miei noi nostro eu
    meu minha nos nosso я мои моя мое мне меня мы наш наша нас
""")
OWN_SIGNS = frozenset("我咱俺私僕")

#: A day or another time is named.
DATES = _words("""
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december yesterday today tonight tomorrow ago weekend montag dienstag mittwoch
    donnerstag freitag samstag sonntag gestern heute morgen januar februar marz mai juni juli oktober dezember
    hier demain aujourd lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier avril juin juillet
    aout octobre decembre ayer hoy manana lunes martes miercoles jueves viernes enero febrero abril junio julio
    вчера сегодня завтра понедельник вторник среда четверг пятница суббота воскресенье 昨天 今天 明天 后天 前天
    周一 周二 周三 周四 周五 周六 周日 周末 星期 礼拜 上个 下个 去年 今年 明年 上周 下周 本周 早上 晚上 昨日
    今日 明日 先週 来週 去年 来年
""")

#: What must not be lost, whatever else is: health, danger, what holds always or never, what is decided or due.
VITAL = _words("""
    asthma pregnant pregnancy anaphylaxis dose doses dosage mg ml mcg iu surgery symptom symptoms seizure
    seizures never always must mustn cannot deadline decided decision promise promised appointment password
    birthday born died married divorced quit fired hired niemals immer muss darf termin frist geburtstag
    entschieden jamais toujours rendez anniversaire nunca siempre cita cumpleanos никогда всегда 过敏 剂量 毫克
    诊断 手术 症状 不能 必须 禁止 决定 预约 截止 生日 吃药 药物 怀孕 结婚 离婚 辞职 去世 アレルギー 薬を 禁止
    予約 締切
""")
VITAL_BEGINNINGS = (
    "allerg", "alergi", "аллерг", "intoleran", "unvertraglich", "diabet", "epilep", "medicat", "medicin", "medikament",
    "diagnos", "prescri", "vaccin", "impf",
)  # fmt: skip

#: Worry, and what gives cause for it.
CONCERNS = _words("""
    worried worry worries worrying concern concerned concerns concerning afraid scared fear fears anxious
    anxiety nervous stressed stress stressful struggling struggle problem problems trouble issue issues pain
    painful hurts sick ill symptom symptoms vomiting vomited limping bleeding failing fails failed error errors
    broken crash crashes crashing unsure confused confusing stuck overwhelmed frustrated frustrating upset sad
    lonely tired exhausted risk dangerous sorge sorgen besorgt angst problem probleme schmerzen fehler kaputt
    unsicher mude inquiet inquiete peur probleme douleur erreur fatigue preocupado preocupada miedo problema
    dolor error cansado 担心 害怕 焦虑 紧张 问题 麻烦 疼痛 难受 不舒 生病 症状 压力 失眠 烦恼 困难 报错 错误
    失败 心配 不安 問題 痛い боюсь беспокоюсь проблема больно ошибка
""")

#: Feelings, by the word that names them in a summary.
FEELINGS: dict[str, AbstractSet[str]] = {
    "anxious": _words("""
        anxious anxiety nervous worried worry worries afraid scared angst besorgt inquiet preocupado 担心 焦虑
        害怕 不安
    """),
    "stressed": _words("""
        stressed stress stressful overwhelmed pressure burnt burnout gestresst stresse estresado 压力 崩溃
    """),
    "frustrated": _words("""
        frustrated frustrating annoyed annoying angry furious fed genervt wutend enerve enojado 生气 烦死 烦躁
    """),
    "sad": _words("""
        sad upset unhappy lonely heartbroken miss missing grief cry cried crying traurig triste 难过 伤心 想念
    """),
    "tired": _words("""
        tired exhausted sleepless mude erschopft fatigue fatiguee cansado cansada 好累 太累 疲惫 失眠
    """),
    "confused": _words("""
        confused confusing unsure lost verwirrt unsicher confus confundido 困惑 迷茫
    """),
    "happy": _words("""
        happy glad excited thrilled delighted joy amazing wonderful froh glucklich heureux contenta contento
        feliz 开心 高兴 兴奋 激动
    """),
    "relieved": _words("""
        relieved relief erleichtert soulage aliviado 放心 松了
    """),
    "proud": _words("""
        proud stolz fier fiere orgulloso 骄傲 自豪
    """),
    "grateful": _words("""
        grateful thankful dankbar reconnaissant agradecido 感谢 感激
    """),
    "hopeful": _words("""
        hopeful optimistic zuversichtlich optimiste optimista 期待 希望
    """),
}  # fmt: skip

#: Somebody advises, asks for something to be done, or means to do it.
ACTIONS = _words("""
    should recommend recommended suggest suggested advise advised remember remind ensure avoid consider
    sollte solltest sollten empfehle empfehlen vermeide denk
    devrait devrais devriez recommande conseille evitez deberia deberias recomiendo evita 建议 应该 记得
    尝试 避免 推荐 提醒 务必 すべき べき お勧 おすす следует рекомендую советую нужно
""")
STRONG_ACTIONS = (
    "i'll ", "i will ", "we'll ", "we will ", "let's ", "i'm going to ", "we're going to ", "i am going to ",
    "please ", "make sure", "you should", "i'd recommend", "i recommend", "i suggest", "i'd suggest",
    "remember to", "don't forget", "remind me", "need to ", "try to ", "i plan to", "we decided to",
    "i decided to", "start with", "ich werde ", "wir werden ", "bitte ", "il faut ", "je vais ", "voy a ",
    "vamos a ", "建议", "记得", "打算", "提醒我", "我会", "我要", "请",
)  # fmt: skip

#: An assistant's sentence that begins so tells somebody what to do.
IMPERATIVES = _words("""
    add apply ask avoid be begin book bring build buy call change check choose clean close combine compare configure
    contact continue cook cover create cut decide define delete divide download drink eat enable focus follow give
    go install keep leave let limit look make measure mix monitor move note offer open order pack pay pick place
    plan practice practise prepare press prioritize put read reduce remove replace rest review run save schedule
    set share shorten show skip spend split start stay stop store switch take talk teach tell test track train try
    turn update upgrade use visit wait walk wash watch wear write
""")
