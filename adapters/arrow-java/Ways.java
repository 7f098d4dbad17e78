import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.compare.Range;
import org.apache.arrow.vector.compare.RangeEqualsVisitor;
import org.apache.arrow.vector.compare.VectorEqualsVisitor;
import org.apache.arrow.vector.complex.reader.FieldReader;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.util.ValueVectorUtility;
import org.apache.arrow.vector.util.VectorSchemaRootAppender;

/**
 * What the library does with the rows that it read: validate, slice, copy, append or hash them, or give them as
 * objects. Afterwards the values are those before, also those of the batch itself; every difference, and every error,
 * is noted.
 *
 * <p>What throws {@link UnsupportedOperationException} is lacking, and is not compared.
 */
final class Ways {
  /** The values of the option {@code after}. */
  static final List<String> AFTER = List.of("", "objects", "validated", "sliced", "copied", "appended", "hashed");

  /** The most differences that are noted. */
  private static final int MOST = 5;

  /** The most characters of a value in a difference. */
  private static final int SHOWN = 80;

  /** The most rows whose hashes are compared, each with every other. */
  private static final int HASHED = 64;

  private final String after;
  private final BufferAllocator allocator;
  private final List<String> differences = new ArrayList<>();
  private boolean compared;

  Ways(String after, BufferAllocator allocator) {
    if (!AFTER.contains(after)) {
      throw new UnsupportedOperationException("nothing is done that is named " + after);
    }
    this.after = after;
    this.allocator = allocator;
  }

  /** The differences; null if nothing was compared. */
  ArrayNode differences() {
    if (!compared) {
      return null;
    }
    ArrayNode made = JsonNodeFactory.instance.arrayNode();
    differences.forEach(made::add);
    return made;
  }

  boolean isAsked() {
    return !after.isEmpty();
  }

  /** Does it with each batch of a reader, whose values are those of {@code columns}. */
  void look(ArrowReader reader, List<ArrayNode> columns) {
    attempt("a batch that is read later", () -> {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      int first = 0;
      while (reader.loadNextBatch()) {
        look(root, reader, columns, first);
        first += root.getRowCount();
      }
    });
  }

  /** Does it with one batch, whose values are those of {@code columns} from the row {@code first} on. */
  void look(VectorSchemaRoot root, DictionaryProvider dictionaries, List<ArrayNode> columns, int first) {
    Batch batch = new Batch(root, dictionaries, columns, first);
    switch (after) {
      case "objects" -> eachColumn(batch, this::shown);
      case "validated" -> eachColumn(batch, this::validate);
      case "sliced" -> attempt("a slice", () -> slice(batch));
      case "copied" -> eachColumn(batch, (vector, column) -> copy(batch, vector, column));
      case "appended" -> attempt("VectorSchemaRootAppender", () -> append(batch));
      case "hashed" -> eachColumn(batch, this::hash);
      default -> {
        return;
      }
    }
    rows(batch, "the batch", root, 0, first, root.getRowCount());
  }

  private record Batch(VectorSchemaRoot root, DictionaryProvider dictionaries, List<ArrayNode> columns, int first) {
    List<FieldVector> vectors() {
      return root.getFieldVectors();
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  private interface OfColumn {
    void look(FieldVector vector, int column) throws Exception;
  }

  private void eachColumn(Batch batch, OfColumn step) {
    List<FieldVector> vectors = batch.vectors();
    for (int c = 0; c < vectors.size(); c++) {
      int column = c;
      attempt(named(vectors.get(c), c), () -> step.look(vectors.get(column), column));
    }
  }

  /** Runs a step, whose errors are differences. */
  private void attempt(String where, Step step) {
    try {
      step.run();
      compared = true;
    } catch (UnsupportedOperationException lacking) {
      // The library says that it has no such thing, or no class of Java holds the value.
    } catch (OutOfMemoryError full) {
      throw full;
    } catch (Throwable thrown) {
      note(where + ": raises " + thrown);
    }
  }

  private void note(String difference) {
    compared = true;
    if (differences.size() < MOST) {
      differences.add(after + ": " + difference);
    }
  }

  private static String named(ValueVector vector, int column) {
    return "column " + column + " '" + vector.getName() + "'";
  }

  private static String clipped(JsonNode value) {
    String text = value.toString();
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }

  private void same(String where, JsonNode expected, JsonNode got) {
    // As texts: how many bits an integer has is nothing to compare.
    if (!expected.toString().equals(got.toString())) {
      note(where + ": expected " + clipped(expected) + ", got " + clipped(got));
    }
  }

  /** Compares {@code count} values of a vector, from {@code begin} on, with those of a column from {@code row} on. */
  private void values(Batch batch, String of, ValueVector vector, int begin, int column, int row, int count) {
    Plain plain = new Plain(batch.dictionaries());
    String name = named(vector, column) + " of " + of;
    attempt(name, () -> {
      plain.spend(count);
      for (int at = 0; at < count; at++) {
        String where = name + ", row " + (row + at);
        same(where, batch.columns().get(column).get(row + at), plain.of(vector, begin + at));
      }
    });
  }

  /** Compares {@code count} rows of a root, from {@code begin} on, with those of the batch from {@code row} on. */
  private void rows(Batch batch, String of, VectorSchemaRoot root, int begin, int row, int count) {
    List<FieldVector> vectors = root.getFieldVectors();
    for (int c = 0; c < vectors.size(); c++) {
      values(batch, of, vectors.get(c), begin, c, row, count);
    }
  }

  /**
   * Validates a vector. An {@link UnsupportedOperationException} without a text comes from a getter that the validation
   * calls and the vector lacks: it does not say that the validation lacks the type.
   */
  private void validate(FieldVector vector, int column) {
    try {
      ValueVectorUtility.validateFull(vector);
    } catch (UnsupportedOperationException thrown) {
      if (thrown.getMessage() != null) {
        throw thrown;
      }
      note(named(vector, column) + ": raises " + thrown);
    }
  }

  /** The two halves, and the slice without rows behind them. */
  private void slice(Batch batch) {
    int rows = batch.root().getRowCount();
    int middle = rows / 2;
    for (int[] bounds : new int[][] {{0, middle}, {middle, rows - middle}, {rows, 0}}) {
      VectorSchemaRoot piece = batch.root().slice(bounds[0], bounds[1]);
      try {
        counted(piece, bounds[1]);
        rows(batch, "a slice", piece, 0, batch.first() + bounds[0], bounds[1]);
      } finally {
        // A slice of all rows is the batch itself, which the reader fills again.
        if (piece != batch.root()) {
          piece.close();
        }
      }
    }
  }

  private void counted(VectorSchemaRoot root, int rows) {
    if (root.getRowCount() != rows) {
      note("rows: expected " + rows + ", got " + root.getRowCount());
    }
  }

  /** A new vector that has every value by a copy; of a dictionary's column, the values of the dictionary. */
  private void copy(Batch batch, FieldVector vector, int column) {
    int count = batch.root().getRowCount();
    DictionaryEncoding encoding = vector.getField().getDictionary();
    if (encoding != null && vector instanceof BaseIntVector) {
      try (ValueVector decoded = DictionaryEncoder.decode(vector, batch.dictionaries().lookup(encoding.getId()))) {
        values(batch, "the decoded", decoded, 0, column, batch.first(), count);
      }
      return;
    }
    try (FieldVector copy = vector.getField().createVector(allocator)) {
      copy.allocateNew();
      for (int row = 0; row < count; row++) {
        copy.copyFromSafe(row, row, vector);
      }
      copy.setValueCount(count);
      values(batch, "the copy", copy, 0, column, batch.first(), count);
    }
  }

  /** A new root to which the batch is appended twice. */
  private void append(Batch batch) {
    int count = batch.root().getRowCount();
    try (VectorSchemaRoot both = VectorSchemaRoot.create(batch.root().getSchema(), allocator)) {
      both.allocateNew();
      VectorSchemaRootAppender.append(both, batch.root(), batch.root());
      counted(both, 2 * count);
      rows(batch, "the first appended", both, 0, batch.first(), count);
      rows(batch, "the second appended", both, count, batch.first(), count);
    }
  }

  /** A vector equals itself, and slots that are equal have the same hash. */
  private void hash(FieldVector vector, int column) {
    if (!VectorEqualsVisitor.vectorEquals(vector, vector)) {
      note(named(vector, column) + ": does not equal itself");
    }
    RangeEqualsVisitor equal = new RangeEqualsVisitor(vector, vector);
    int count = Math.min(vector.getValueCount(), HASHED);
    int[] hashes = new int[count];
    for (int row = 0; row < count; row++) {
      hashes[row] = vector.hashCode(row);
      for (int other = 0; other < row; other++) {
        if (hashes[row] != hashes[other] && equal.rangeEquals(new Range(other, row, 1))) {
          note(named(vector, column) + ": rows " + other + " and " + row + " are equal, and their hashes differ");
        }
      }
    }
  }

  /** What {@code getObject} gives, and the reader of the vector. */
  private void shown(FieldVector vector, int column) {
    // Objects of a column with a dictionary are its indices.
    Plain stored = new Plain(null);
    FieldReader[] reader = new FieldReader[1];
    attempt(named(vector, column) + ", getReader", () -> reader[0] = vector.getReader());
    for (int at = 0; at < vector.getValueCount(); at++) {
      int row = at;
      JsonNode expected = stored.of(vector, row);
      String where = named(vector, column) + ", row " + row;
      attempt(where, () -> same(where + ", getObject", expected, Shown.of(vector.getObject(row), vector, row)));
      if (reader[0] != null) {
        attempt(where + ", readObject", () -> {
          reader[0].setPosition(row);
          same(where + ", readObject", expected, Shown.of(reader[0].readObject(), vector, row));
        });
      }
    }
  }
}
