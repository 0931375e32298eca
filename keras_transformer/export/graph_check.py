"""Checks the operations of a SavedModel before TensorFlow loads it.

A SavedModel is a program: a graph may read and write files (`ReadFile`, `WriteFile`), call Python (`PyFunc`) or open
connections. TensorFlow has some 1,500 operations, of which even a stateless one may read files, and every version adds
others. Therefore the operations of exports are listed here, not the dangerous ones.
"""

from pathlib import Path

from tensorflow.core.protobuf import saved_model_pb2

from keras_transformer.errors import InputError
from keras_transformer.language import translate as _

FILE = "saved_model.pb"
CALCULATION = frozenset(
    """
    Abs Add AddN AddV2 All Any ArgMax ArgMin Assert AssignVariableOp BatchMatMulV2 BatchMatMulV3 BiasAdd Bincount
    Bitcast BitwiseAnd BitwiseOr BitwiseXor BroadcastArgs BroadcastTo Case Cast Ceil CheckNumerics ClipByValue
    Concat ConcatOffset ConcatV2 Const ConsumeMutexLock Cos Cumprod Cumsum DecodeBase64 DecodePaddedRaw DecodeRaw
    DenseBincount DisableCopyOnRead Div DivNoNan Einsum EmptyTensorList EncodeBase64 EnsureShape Equal Erf Exp
    ExpandDims Expm1 Fill Floor FloorDiv FloorMod Gather GatherNd GatherV2 Greater GreaterEqual HashTableV2 Identity
    IdentityN If Inv Invert InvertPermutation IsFinite IsInf IsNan LeftShift Less LessEqual Log Log1p LogSoftmax
    LogicalAnd LogicalNot LogicalOr LookupTableFindV2 LookupTableImportV2 LookupTableSizeV2 LowerBound MatMul
    MatrixBandPart MatrixDiagV3 Max Maximum Mean Min Minimum Mod Mul MulNoNan MutexLock MutexV2 Neg NoOp NotEqual
    OneHot OnesLike Pack Pad PadV2 PartitionedCall Placeholder Pow PreventGradient Prod RaggedBincount RaggedCross
    RaggedGather RaggedRange RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant
    Range Rank ReadVariableOp RealDiv Reciprocal ReduceJoin Relu Reshape ResourceGather ResourceGatherNd
    ReverseSequence ReverseV2 RightShift Rint Roll Round Rsqrt ScatterNd SegmentMax SegmentMean SegmentMin
    SegmentSum Select SelectV2 Selu Shape ShapeN Sigmoid Sign Sin Size Slice Snapshot Softmax Softplus SparseToDense
    Split SplitV Sqrt Square SquaredDifference Squeeze StatefulPartitionedCall StatelessCase StatelessIf
    StatelessWhile StaticRegexFullMatch StaticRegexReplace StopGradient StridedSlice StringFormat StringJoin
    StringLength StringLower StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucketFast
    StringToNumber StringUpper Sub Substr Sum Tan Tanh TensorListConcatV2 TensorListElementShape
    TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
    TensorListReserve TensorListResize TensorListSetItem TensorListStack TensorScatterAdd TensorScatterMax
    TensorScatterMin TensorScatterSub TensorScatterUpdate Tile ToBool TopKV2 Transpose TruncateDiv TruncateMod
    UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode Unique UniqueV2
    UniqueWithCounts Unpack UnsortedSegmentJoin UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
    UnsortedSegmentSum UpperBound VarHandleOp Where While XlaDynamicSlice XlaDynamicUpdateSlice Xlogy ZerosLike
    NormalizeUTF8 SentencepieceDetokenizeOp SentencepieceOp SentencepieceTokenizeOp
    """.split()  # noqa: SIM905
)
"""Operations that calculate, on tensors, variables and tables in memory. The last four are tensorflow-text's."""

SAVING = frozenset({"MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"})
"""Operations that every SavedModel holds to save its variables again, in functions that only saving calls."""


def check_graph(folder):
    """Raises `InputError` if a SavedModel is damaged, or if its graph could do anything but calculate.

    Args:
        folder: The folder of the SavedModel.
    """
    path = Path(folder) / FILE
    model = read_model(path)
    if len(model.meta_graphs) != 1 or not model.meta_graphs[0].HasField("object_graph_def"):
        # TensorFlow would run such a graph while it loads it.
        raise InputError(_("{path}: not written by this program; export the run again", path=path))
    [meta_graph] = model.meta_graphs
    library = meta_graph.graph_def.library
    functions, names = functions_of(library), entries(meta_graph.object_graph_def)
    # TensorFlow may call one of these in place of another.
    names |= {function.signature.name for function in library.function if "api_implements" in function.attr}
    called = reached(functions, names)
    for name, nodes in [*functions.items(), ("", meta_graph.graph_def.node)]:
        for node in nodes:
            if node.op not in CALCULATION and (node.op not in SAVING or name in called):
                raise InputError(
                    _(
                        "{path}: has the operation {name}, which no export has and which could read files or run "
                        "programs; export the run again",
                        path=path,
                        name=node.op,
                    )
                )


def read_model(path):
    """Reads a `SavedModel` message. Raises `InputError` if the file cannot be read."""
    try:
        return saved_model_pb2.SavedModel.FromString(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except Exception as error:  # protobuf's DecodeError, whose class depends on its implementation.
        raise InputError(_("{path}: damaged: {error}", path=path, error=error)) from error


def functions_of(library):
    """Returns the nodes of the functions of a library, by name. Of functions with equal names, those of all."""
    functions = {}
    for function in library.function:
        functions.setdefault(function.signature.name, []).extend(function.node_def)
    return functions


def entries(object_graph):
    """Returns the names of the functions that a loaded SavedModel offers to its user or calls while it is loaded."""
    names = set(object_graph.concrete_functions)
    for node in object_graph.nodes:
        names.update(node.function.concrete_functions)
        names.add(node.bare_concrete_function.concrete_function_name)
    return names


def reached(functions, names):
    """Returns the given names of functions, and those of all functions that they call.

    Args:
        functions: The nodes of each function, by name.
        names: A set of names.
    """
    reached, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name in functions and name not in reached:
            reached.add(name)
            pending += (called for node in functions[name] for called in calls(node))
    return reached


def calls(node):
    """Yields the names of the functions that a node may call."""
    for value in node.attr.values():
        yield value.func.name
        yield from (function.name for function in value.list.func)
