"""Virtual time: an event loop whose clock jumps ahead whenever everything waits for it.

Sockets are real, waiting is not: an hour of silence takes a millisecond. Works where both ends of
every connection live in this loop.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE_S = 0.001
"""How long to look for bytes that are still on their way through the loopback."""
STUCK_S = 20


class _JumpingSelector(selectors.DefaultSelector):
    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:
            ready = super().select(STUCK_S)
            assert ready, "everything waits, and nothing will happen"
            return ready
        ready = super().select(GRACE_S)
        if not ready:
            self.now_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: object) -> Any:
        """Run at once: a thread would work in real time."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 -- whoever awaits it is told
            future.set_exception(error)
        return future


def run_virtual(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to the end; nothing may be left running."""

    async def watched() -> T:
        try:
            return await main()
        finally:
            for _ in range(100):  # finalizers of asynchronous generators take a few rounds
                left = asyncio.all_tasks() - {asyncio.current_task()}
                if not left:
                    break
                await asyncio.sleep(0)
            assert not left, f"left running: {left}"

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(watched())
