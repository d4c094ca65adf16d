"""onnxruntime with its CUDA provider: a session of a small model, and values that are kept on the device.

Its libraries' kernels are machine code of a GPU, so that launches are skipped: results are not looked at, copies are.
"""

import numpy as np
import onnxruntime as runtime
from onnx import TensorProto, helper

runtime.set_default_logger_severity(3)
if hasattr(runtime, "preload_dlls"):
    runtime.preload_dlls()
print("providers", "CUDAExecutionProvider" in runtime.get_available_providers())
here = np.arange(12, dtype=np.float32).reshape(3, 4)
there = runtime.OrtValue.ortvalue_from_numpy(here, "cuda", 0)
print("there", there.device_name(), "and back", np.array_equal(there.numpy(), here))


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


nodes = [
    helper.make_node("MatMul", ["x", "w"], ["product"]),
    helper.make_node("Add", ["product", "b"], ["sum"]),
    helper.make_node("Relu", ["sum"], ["y"]),
]
weights = [
    helper.make_tensor("w", TensorProto.FLOAT, (4, 2), np.ones(8, np.float32)),
    helper.make_tensor("b", TensorProto.FLOAT, (2,), np.ones(2, np.float32)),
]
graph = helper.make_graph(nodes, "small", [value("x", 3, 4)], [value("y", 3, 2)], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = runtime.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])
print("session", session.get_providers()[0])
for _ in range(3):
    (y,) = session.run(None, {"x": here})
print("a step", y.shape, y.dtype)
