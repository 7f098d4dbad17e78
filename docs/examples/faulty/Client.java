// Reads the table p.d.t of the server in GRPC as users of google-cloud-bigquerystorage do: each batch behind the schema
// of the session or, with the argument `joined`, schema and batches as one stream.
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.cloud.bigquery.storage.v1.*;
import io.grpc.ManagedChannelBuilder;
import java.io.*;
import java.nio.channels.Channels;
import java.util.*;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.*;
import org.apache.arrow.vector.ipc.*;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

public class Client {
  static void print(VectorSchemaRoot root) {
    for (int i = 0; i < root.getRowCount(); i++) System.out.println(root.getVector(0).getObject(i));
  }

  static ReadChannel channel(byte[] bytes) {
    return new ReadChannel(Channels.newChannel(new ByteArrayInputStream(bytes)));
  }

  public static void main(String[] arguments) throws Exception {
    var channel = BigQueryReadSettings.defaultGrpcTransportProviderBuilder()
        .setEndpoint(System.getenv("GRPC"))
        .setChannelConfigurator(ManagedChannelBuilder::usePlaintext).build();
    var settings = BigQueryReadSettings.newBuilder().setTransportChannelProvider(channel)
        .setCredentialsProvider(NoCredentialsProvider.create()).build();
    try (var client = BigQueryReadClient.create(settings); var allocator = new RootAllocator()) {
      var asked = ReadSession.newBuilder().setTable("projects/p/datasets/d/tables/t").setDataFormat(DataFormat.ARROW);
      var session = client.createReadSession("projects/p", asked.build(), 1);
      byte[] schema = session.getArrowSchema().getSerializedSchema().toByteArray();
      var all = new ByteArrayOutputStream();
      all.write(schema);
      var root = VectorSchemaRoot.create(MessageSerializer.deserializeSchema(channel(schema)), allocator);
      var request = ReadRowsRequest.newBuilder().setReadStream(session.getStreams(0).getName()).build();
      for (ReadRowsResponse response : client.readRowsCallable().call(request)) {
        byte[] bytes = response.getArrowRecordBatch().getSerializedRecordBatch().toByteArray();
        all.write(bytes);
        if (arguments.length > 0) continue;
        try (var batch = MessageSerializer.deserializeRecordBatch(channel(bytes), allocator)) {
          new VectorLoader(root, CommonsCompressionFactory.INSTANCE).load(batch);
        }
        print(root);
      }
      root.close();
      if (arguments.length == 0) return;
      try (var reader = new ArrowStreamReader(new ByteArrayInputStream(all.toByteArray()), allocator,
          CommonsCompressionFactory.INSTANCE)) {
        while (reader.loadNextBatch()) print(reader.getVectorSchemaRoot());
      }
    }
  }
}
