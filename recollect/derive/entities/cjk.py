"""Names in Chinese text that signs or titles give away: 《titles》, and people with a title after their surname."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史"
    "顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_TITLES = "先生|女士|小姐|老师|教授|医生|大夫|律师|经理|主任|总监|教练|阿姨|叔叔|师傅|老板|院长|校长|同学|大哥|大姐|总"
_TITLED = re.compile(
    rf"(?:(?<=[^\u4e00-\u9fff])|^|(?<=[和跟与给找让请问向对，。]))([{_SURNAMES}][\u4e00-\u9fff]{{0,2}}?)({_TITLES})"
)
_FAMILIAR = re.compile(
    rf"(?:(?<=[^\u4e00-\u9fff])|^|(?<=[和跟与给找让请问向对，。]))([小老阿][{_SURNAMES}])(?![\u4e00-\u9fff]?[子的])"
)
_BOOK = re.compile(r"《([^《》\n]{1,30})》")


def names(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, type and place of each."""
    for match in _BOOK.finditer(text):
        yield match[1], "concept", match.start(1)
    for match in _TITLED.finditer(text):
        yield match[0], "person", match.start()
    for match in _FAMILIAR.finditer(text):
        yield match[1], "person", match.start()
