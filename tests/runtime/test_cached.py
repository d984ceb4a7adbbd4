"""Properties that threads ask for at the same time."""

import threading

from gpustats.runtime.cached import cached_property


class Slow:
    """Each thread computes the property while the other one does."""

    def __init__(self):
        self.both, self.made = threading.Barrier(2), []

    @cached_property
    def thing(self):
        """Thing."""
        self.made.append(object())
        found = self.made[-1]
        self.both.wait(10)
        return found


def test_threads_get_the_same_object():
    slow, found = Slow(), []
    threads = [threading.Thread(target=lambda: found.append(slow.thing)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(slow.made) == 2 and found[0] is found[1] is slow.thing and found[0] in slow.made


def test_it_is_computed_once():
    slow = Slow()
    slow.both = threading.Barrier(1)
    assert slow.thing is slow.thing and len(slow.made) == 1
    del slow.thing
    assert slow.thing is slow.made[1]
    assert Slow.thing.__doc__ == "Thing."
