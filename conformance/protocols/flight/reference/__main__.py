"""``python -m conformance.protocols.flight.reference``: the reference in a process of its own (:mod:`.serving`)."""

from conformance.contain.early import interruptible

if __name__ == "__main__":
    with interruptible():
        from conformance.contain.libraries import settle_libraries

        settle_libraries()
        from conformance.protocols.flight.reference.serving import main

        main()
