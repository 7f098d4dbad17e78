import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.Decimal256Vector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.DurationVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.IntervalDayVector;
import org.apache.arrow.vector.IntervalMonthDayNanoVector;
import org.apache.arrow.vector.IntervalYearVector;
import org.apache.arrow.vector.LargeVarBinaryVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.ViewVarBinaryVector;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.BaseListVector;
import org.apache.arrow.vector.complex.DenseUnionVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.LargeListViewVector;
import org.apache.arrow.vector.complex.MapVector;
import org.apache.arrow.vector.complex.RepeatedValueVector;
import org.apache.arrow.vector.complex.RunEndEncodedVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.UnionVector;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;

/**
 * Plain values: the JSON form of single slots, read through the accessors of the library's own vectors.
 *
 * <p>The accessors return the stored value ({@code get}), not an object of a calendar ({@code getObject}). A
 * dictionary-encoded or run-end encoded slot has the value that it refers to, an extension that of its storage.
 */
final class Plain {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The largest number of values of one answer: a few bytes can declare any number, and a library may rely on them. */
  private static final long MAX_VALUES = 1 << 22;

  private final DictionaryProvider dictionaries;
  private long left = MAX_VALUES;

  /** Without dictionaries, the values of encoded slots are their indices. */
  Plain(DictionaryProvider dictionaries) {
    this.dictionaries = dictionaries;
  }

  /** Must be called before {@code count} values are made. One below zero, as of offsets that go down, gives nothing back. */
  void spend(long count) {
    left -= Math.max(count, 0);
    if (left < 0) {
      throw new IllegalStateException("the library announces more than " + MAX_VALUES + " values");
    }
  }

  private static JsonNode whole(long value) {
    return JSON.numberNode(value);
  }

  private JsonNode span(ValueVector values, long begin, long end) {
    spend(end - begin);
    ArrayNode made = JSON.arrayNode();
    for (long at = begin; at < end; at++) {
      made.add(of(values, Math.toIntExact(at)));
    }
    return made;
  }

  private JsonNode map(MapVector vector, int index) {
    StructVector entries = (StructVector) vector.getDataVector();
    ArrayNode pairs = JSON.arrayNode();
    spend((long) vector.getElementEndIndex(index) - vector.getElementStartIndex(index));
    for (int at = vector.getElementStartIndex(index); at < vector.getElementEndIndex(index); at++) {
      pairs.add(JSON.arrayNode()
          .add(of(entries.getChildByOrdinal(0), at))
          .add(of(entries.getChildByOrdinal(1), at)));
    }
    return JSON.objectNode().set("map", pairs);
  }

  private JsonNode struct(StructVector vector, int index) {
    ArrayNode fields = JSON.arrayNode();
    for (FieldVector child : vector.getChildrenFromFields()) {
      fields.add(of(child, index));
    }
    return JSON.objectNode().set("struct", fields);
  }

  /** The dictionary's value for a slot of a dictionary-encoded field; null if the field is not encoded. */
  private JsonNode encoded(ValueVector vector, int index) {
    DictionaryEncoding encoding = vector.getField().getDictionary();
    if (encoding == null || dictionaries == null || !(vector instanceof BaseIntVector)) {
      return null;
    }
    FieldVector values = dictionaries.lookup(encoding.getId()).getVector();
    long key = ((BaseIntVector) vector).getValueAsLong(index);
    // Like the library's own DictionaryEncoder.decode: entries beyond a vector's value count are not values.
    if (key < 0 || key >= values.getValueCount()) {
      throw new IllegalArgumentException("Provided dictionary does not contain value for index " + key);
    }
    return of(values, Math.toIntExact(key));
  }

  /** The plain value of one slot. */
  JsonNode of(ValueVector vector, int index) {
    // These have no validity bitmap; the values that they refer to decide whether the slot is null.
    if (vector instanceof NullVector) {
      return JSON.nullNode();
    } else if (vector instanceof UnionVector v) {
      // As in the library's own getObject, a slot without a vector, as of the null type, is null.
      ValueVector child = v.getVector(index);
      return child == null ? JSON.nullNode() : of(child, index);
    } else if (vector instanceof DenseUnionVector v) {
      return of(v.getVectorByType(v.getTypeId(index)), v.getOffset(index));
    } else if (vector instanceof RunEndEncodedVector v) {
      return of(v.getValuesVector(), v.getPhysicalIndex(index));
    } else if (vector instanceof ExtensionTypeVector<?> v) {
      return of(v.getUnderlyingVector(), index);
    } else if (vector.isNull(index)) {
      return JSON.nullNode();
    }
    JsonNode behind = encoded(vector, index);
    return behind != null ? behind : stored(vector, index);
  }

  /** Where the items of a list of any layout begin and end. */
  static long[] bounds(RepeatedValueVector vector, int index) {
    if (vector instanceof BaseListVector v) {
      return new long[] {v.getElementStartIndex(index), v.getElementEndIndex(index)};
    } else if (vector instanceof LargeListVector v) {
      return new long[] {v.getElementStartIndex(index), v.getElementEndIndex(index)};
    } else if (vector instanceof LargeListViewVector v) {
      // This is the only list vector without accessors for the bounds of an element.
      long begin = v.getOffsetBuffer().getLong((long) index * Long.BYTES);
      return new long[] {begin, begin + v.getSizeBuffer().getLong((long) index * Long.BYTES)};
    }
    throw new UnsupportedOperationException("no bounds of " + vector.getField().getType());
  }

  private JsonNode stored(ValueVector vector, int index) {
    if (vector instanceof BitVector v) {
      return JSON.booleanNode(v.get(index) != 0);
    } else if (vector instanceof TinyIntVector v) {
      return whole(v.get(index));
    } else if (vector instanceof SmallIntVector v) {
      return whole(v.get(index));
    } else if (vector instanceof IntVector v) {
      return whole(v.get(index));
    } else if (vector instanceof BigIntVector v) {
      return whole(v.get(index));
    } else if (vector instanceof UInt1Vector v) {
      return whole(Byte.toUnsignedLong(v.get(index)));
    } else if (vector instanceof UInt2Vector v) {
      return whole(v.get(index));
    } else if (vector instanceof UInt4Vector v) {
      return whole(Integer.toUnsignedLong(v.get(index)));
    } else if (vector instanceof UInt8Vector v) {
      return JSON.numberNode(new BigInteger(Long.toUnsignedString(v.get(index))));
    } else if (vector instanceof DateDayVector v) {
      return whole(v.get(index));
    } else if (vector instanceof DateMilliVector v) {
      return whole(v.get(index));
    } else if (vector instanceof TimeSecVector v) {
      return whole(v.get(index));
    } else if (vector instanceof TimeMilliVector v) {
      return whole(v.get(index));
    } else if (vector instanceof TimeMicroVector v) {
      return whole(v.get(index));
    } else if (vector instanceof TimeNanoVector v) {
      return whole(v.get(index));
    } else if (vector instanceof TimeStampVector v) {
      return whole(v.get(index));
    } else if (vector instanceof DurationVector v) {
      return whole(DurationVector.get(v.getDataBuffer(), index));
    } else if (vector instanceof Float2Vector v) {
      return Leaf.floating(v.getValueAsDouble(index));
    } else if (vector instanceof Float4Vector v) {
      return Leaf.floating(v.get(index));
    } else if (vector instanceof Float8Vector v) {
      return Leaf.floating(v.get(index));
    } else if (vector instanceof VarCharVector v) {
      return Leaf.text(v.get(index));
    } else if (vector instanceof LargeVarCharVector v) {
      return Leaf.text(v.get(index));
    } else if (vector instanceof ViewVarCharVector v) {
      return Leaf.text(v.get(index));
    } else if (vector instanceof VarBinaryVector v) {
      return Leaf.hex(v.get(index));
    } else if (vector instanceof LargeVarBinaryVector v) {
      return Leaf.hex(v.get(index));
    } else if (vector instanceof ViewVarBinaryVector v) {
      return Leaf.hex(v.get(index));
    } else if (vector instanceof FixedSizeBinaryVector v) {
      return Leaf.hex(v.get(index));
    } else if (vector instanceof DecimalVector v) {
      return Leaf.decimal(v.getObject(index).unscaledValue());
    } else if (vector instanceof Decimal256Vector v) {
      return Leaf.decimal(v.getObject(index).unscaledValue());
    } else if (vector instanceof IntervalYearVector v) {
      return JSON.objectNode().put("months", v.get(index));
    } else if (vector instanceof IntervalDayVector v) {
      ArrowBuf data = v.getDataBuffer();
      ObjectNode made = JSON.objectNode().put("days", IntervalDayVector.getDays(data, index));
      return made.put("ms", IntervalDayVector.getMilliseconds(data, index));
    } else if (vector instanceof IntervalMonthDayNanoVector v) {
      ArrowBuf data = v.getDataBuffer();
      ObjectNode made = JSON.objectNode().put("months", IntervalMonthDayNanoVector.getMonths(data, index));
      made.put("days", IntervalMonthDayNanoVector.getDays(data, index));
      return made.put("ns", IntervalMonthDayNanoVector.getNanoseconds(data, index));
    } else if (vector instanceof MapVector v) {
      return map(v, index);
    } else if (vector instanceof StructVector v) {
      return struct(v, index);
    } else if (vector instanceof RepeatedValueVector v) {
      long[] bounds = bounds(v, index);
      return span(v.getDataVector(), bounds[0], bounds[1]);
    } else if (vector instanceof FixedSizeListVector v) {
      return span(v.getDataVector(), v.getElementStartIndex(index), v.getElementEndIndex(index));
    }
    throw new UnsupportedOperationException("no accessor for " + vector.getField().getType());
  }
}
