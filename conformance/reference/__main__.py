"""``python -m conformance.reference``: the reference server of the default protocol in a process of its own."""

from conformance.contain.early import interruptible

if __name__ == "__main__":
    with interruptible():
        from conformance.contain.libraries import settle_libraries

        settle_libraries()
        from conformance.protocol import DEFAULT_PROTOCOL, module_of

        module_of(DEFAULT_PROTOCOL, "reference.serving").main()
