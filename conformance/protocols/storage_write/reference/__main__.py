"""``python -m conformance.protocols.storage_write.reference``: the reference in a process (:mod:`.serving`)."""

from conformance.contain.early import interruptible

if __name__ == "__main__":
    with interruptible():
        from conformance.contain.libraries import settle_libraries

        settle_libraries()
        from conformance.protocols.storage_write.reference.serving import main

        main()
