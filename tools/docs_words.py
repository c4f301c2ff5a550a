"""The few words that the generated parts of pages need, in English and Chinese; Markdown's small change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

WORDS = {
    "option": "选项", "argument": "参数", "default": "默认", "required": "必填", "meaning": "含义",
    "type": "类型", "key": "键", "may be null": "可为 null", "name": "名称", "value": "值", "unit": "单位",
    "status": "状态", "source": "来源", "fact": "数据项", "products": "产品", "product": "产品", "as": "同",
    "nothing differs": "没有差别", "instruction": "指令", "types": "类型", "shape": "形状",
    "registers": "寄存器", "cycles": "周期", "latency": "延迟", "note": "说明", "unknown": "未知",
    "view": "视图", "authority": "权威", "resource": "资源",
    "differs from the hardware view": "与 hardware 视图的差别", "shows": "是什么",
    "what was compared": "比较的内容", "equal": "相等", "of": "总数", "found": "结果", "wanted": "目标",
    "FLOP a clock a CU": "每 CU 每时钟 FLOP", "no Fit is possible; unknown": "无法计算占用率；未知",
    "or": "或", "usage": "用法", "fields": "字段", "waves of": "wave 宽度", "lanes": "条通道",
    "what it says": "它说明什么", "refers to": "见", "another document": "另一份文档",
}  # fmt: skip


def word(text: str, language: str) -> str:
    """One of the words in a language. Raises KeyError for a word that has no Chinese."""
    return text if language == "en" else WORDS[text]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A Markdown table; `right` are the columns of numbers."""
    rule = ["---:" if at in right else "---" for at in range(len(heads))]
    lines = [heads, rule, *([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(text: str) -> str:
    """The text as code in a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def plain(text: str) -> str:
    """Foreign text in Markdown: nothing in it is markup, except what stands between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _literal(text)
    return "".join(code(part) if at % 2 else _literal(part) for at, part in enumerate(parts))


def _literal(text: str) -> str:
    for char in "\\*_[]#{}":
        text = text.replace(char, f"\\{char}")
    return escape(text, quote=False)
