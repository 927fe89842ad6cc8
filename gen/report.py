"""What an oracle found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Report"]

#: Of more problems than that, people see the first; programs see all.
_SHOWN = 40


@dataclass
class Report:
    """One oracle on one header set. What was compared is counted; what did not agree is a problem."""

    oracle: str
    subject: str
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    why_not: str | None = None  # the reason why it did not run

    @property
    def status(self) -> Literal["ran", "failed", "not run"]:
        if self.why_not is not None:
            return "not run"
        return "failed" if self.problems else "ran"

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def compare(self, what: str, ours: object, theirs: object) -> None:
        """Note a difference."""
        if ours != theirs:
            self.problems.append(f"{what}: {ours!s} here, {theirs!s} there")

    def lines(self) -> list[str]:
        """For people: the outcome with its counts, then a line for each problem."""
        counts = ", ".join(f"{number} {what}" for what, number in self.counts.items())
        detail = self.why_not if self.why_not is not None else f"{counts} compared"
        shown = self.problems[:_SHOWN] + [f"and {len(self.problems) - _SHOWN} more"] * (len(self.problems) > _SHOWN)
        return [f"{self.oracle}, {self.subject}: {self.status}: {detail}", *(f"  {line}" for line in shown)]

    def data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "oracle": self.oracle,
            "subject": self.subject,
            "status": self.status,
            "counts": self.counts,
            "problems": self.problems,
            **({"why": self.why_not} if self.why_not is not None else {}),
        }
