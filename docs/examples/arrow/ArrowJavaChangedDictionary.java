// org.apache.arrow:arrow-vector 19.0.0: when a dictionary changes, a file keeps the first one for all batches.
import java.io.ByteArrayOutputStream;
import java.nio.channels.Channels;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.*;
import org.apache.arrow.vector.dictionary.*;
import org.apache.arrow.vector.ipc.*;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;

class ArrowJavaChangedDictionary {
  public static void main(String[] arguments) throws Exception {
    var words = new VarCharVector("words", new RootAllocator());
    var dictionary = new Dictionary(words, new DictionaryEncoding(1, false, null));
    words.setSafe(0, "a".getBytes());
    words.setValueCount(1);
    var root = VectorSchemaRoot.of((FieldVector) DictionaryEncoder.encode(words, dictionary));
    root.setRowCount(1);
    var out = new ByteArrayOutputStream();
    var writer = new ArrowFileWriter(root, new DictionaryProvider.MapDictionaryProvider(dictionary), Channels.newChannel(out));
    writer.writeBatch();
    words.setSafe(0, "b".getBytes());
    writer.writeBatch(); // the same index, of another word
    writer.end();
    var reader = new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(out.toByteArray()), words.getAllocator());
    while (reader.loadNextBatch())
      System.out.println(DictionaryEncoder.decode(reader.getVectorSchemaRoot().getVector(0), reader.lookup(1)));
  }
}
