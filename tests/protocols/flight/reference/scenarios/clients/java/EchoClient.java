import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Sends four batches to the exchange "echo", and reads each back before the next one; every other has metadata. */
public final class EchoClient {
  private static final int BATCHES = 4;

  public static void main(String[] arguments) throws Exception {
    Location place = Location.forGrpcInsecure(arguments[0], Integer.parseInt(arguments[1]));
    try (BufferAllocator memory = new RootAllocator();
        FlightClient client = FlightClient.builder(memory, place).build();
        IntVector numbers = new IntVector("number", memory);
        VectorSchemaRoot root = new VectorSchemaRoot(List.of(numbers));
        FlightClient.ExchangeReaderWriter exchange =
            client.doExchange(FlightDescriptor.command("echo".getBytes(StandardCharsets.UTF_8)))) {
      exchange.getWriter().start(root);
      for (int batch = 0; batch < BATCHES; batch++) {
        numbers.allocateNew(2);
        numbers.set(0, 10 * batch);
        numbers.setNull(1);
        root.setRowCount(2);
        if (batch % 2 == 0) {
          byte[] text = Integer.toString(batch).getBytes(StandardCharsets.UTF_8);
          ArrowBuf metadata = memory.buffer(text.length);
          metadata.writeBytes(text);
          exchange.getWriter().putNext(metadata);
        } else {
          exchange.getWriter().putNext();
        }
        require(exchange.getReader().next(), "no answer to batch " + batch);
        IntVector came = (IntVector) exchange.getReader().getRoot().getVector("number");
        require(came.getValueCount() == 2 && came.get(0) == 10 * batch && came.isNull(1), "other rows in batch " + batch);
        ArrowBuf said = exchange.getReader().getLatestMetadata();
        byte[] bytes = new byte[said == null ? 0 : (int) said.readableBytes()];
        if (said != null) {
          said.getBytes(said.readerIndex(), bytes);
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        require(text.equals(batch % 2 == 0 ? Integer.toString(batch) : ""), "the metadata '" + text + "' of batch " + batch);
      }
      exchange.getWriter().completed();
      require(!exchange.getReader().next(), "another answer after the last batch");
    }
    System.out.println("the same batches and metadata");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
