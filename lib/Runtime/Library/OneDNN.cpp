//===- OneDNN.cpp - oneDNN, and products of matrices by it ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// oneDNN is loaded when it is first needed, so fad runs without it, and takes
// its version 2 as well as 3. The declarations below are those parts of its C
// interface that both have; descriptors, which are structures in version 2 and
// pointers in version 3, are storage that oneDNN writes.
//
//===----------------------------------------------------------------------===//

#include "OneDNN.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <dlfcn.h>
#include <memory>

using namespace mlir::fad;

const OneDNN *OneDNN::get() {
  // Threads may use it while the process ends, so it is not destroyed.
  static const OneDNN *const library = [] {
    auto loaded = std::make_unique<OneDNN>();
    return loaded->load() ? loaded.release() : nullptr;
  }();
  return library;
}

bool OneDNN::load() {
  void *library =
      openLibrary("FAD_ONEDNN_LIBRARY", {"libdnnl.so.3", "libdnnl.so.2"});
  if (!library)
    return false;
  bool complete = true;
  auto find = [&](auto &function, const char *name) {
    void *symbol = dlsym(library, name);
    complete &= symbol != nullptr;
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  struct Version {
    int major;
  };
  const Version *(*getVersion)();
  find(getVersion, "dnnl_version");
  if (!complete)
    return false;
  version = getVersion()->major;
  int (*createEngine)(void **, int, size_t);
  find(createEngine, "dnnl_engine_create");
  find(createStream, "dnnl_stream_create");
  if (version == 2) {
    find(initByStrides, "dnnl_memory_desc_init_by_strides");
    find(initByTag, "dnnl_memory_desc_init_by_tag");
    find(initMatmul, "dnnl_matmul_desc_init");
    find(createDescriptor, "dnnl_primitive_desc_create");
    find(initConvolution, "dnnl_dilated_convolution_forward_desc_init");
    find(initImageGradient, "dnnl_dilated_convolution_backward_data_desc_init");
    find(initFilterGradient,
         "dnnl_dilated_convolution_backward_weights_desc_init");
  } else if (version == 3) {
    find(createByStrides, "dnnl_memory_desc_create_with_strides");
    find(createByTag, "dnnl_memory_desc_create_with_tag");
    find(destroyLayout, "dnnl_memory_desc_destroy");
    find(createMatmul, "dnnl_matmul_primitive_desc_create");
    find(createConvolution, "dnnl_convolution_forward_primitive_desc_create");
    find(createImageGradient,
         "dnnl_convolution_backward_data_primitive_desc_create");
    find(createFilterGradient,
         "dnnl_convolution_backward_weights_primitive_desc_create");
  } else {
    return false;
  }
  find(createAttributes, "dnnl_primitive_attr_create");
  find(destroyAttributes, "dnnl_primitive_attr_destroy");
  find(setScratchpadMode, "dnnl_primitive_attr_set_scratchpad_mode");
  find(createPostOps, "dnnl_post_ops_create");
  find(destroyPostOps, "dnnl_post_ops_destroy");
  find(appendSum, "dnnl_post_ops_append_sum");
  find(setPostOps, "dnnl_primitive_attr_set_post_ops");
  find(destroyDescriptor, "dnnl_primitive_desc_destroy");
  find(queryLayout, "dnnl_primitive_desc_query_md");
  find(query, "dnnl_primitive_desc_query");
  find(getLayoutSize, "dnnl_memory_desc_get_size");
  find(areLayoutsEqual, "dnnl_memory_desc_equal");
  find(createReorder, "dnnl_reorder_primitive_desc_create");
  find(createPrimitive, "dnnl_primitive_create");
  find(destroyPrimitive, "dnnl_primitive_destroy");
  find(createMemory, "dnnl_memory_create");
  find(destroyMemory, "dnnl_memory_destroy");
  find(executePrimitive, "dnnl_primitive_execute");
  find(destroyStream, "dnnl_stream_destroy");
  find(waitForStream, "dnnl_stream_wait");
  constexpr int cpu = 1;
  return complete && createEngine(&engine, cpu, 0) == 0;
}

namespace {
/// A stream, which one thread uses at a time.
struct Stream {
  void *stream = nullptr;
  Stream() {
    constexpr unsigned inOrder = 1;
    const OneDNN *library = OneDNN::get();
    if (library->createStream(&stream, library->engine, inOrder) != 0)
      stream = nullptr;
  }
  ~Stream() {
    if (stream)
      OneDNN::get()->destroyStream(stream);
  }
};
} // namespace

int mlir::fad::getCode(Element element) {
  switch (element) {
  case Element::f16:
    return 1;
  case Element::bf16:
    return 2;
  case Element::f32:
    return 3;
  case Element::f64:
    break;
  }
  return 0;
}

bool OneDNN::describe(Layout &layout, Element element,
                      llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<int64_t> strides) const {
  int64_t dims[kMaxRank] = {}, steps[kMaxRank] = {};
  llvm::copy(sizes, dims);
  llvm::copy(strides, steps);
  int rank = sizes.size();
  if (version == 2)
    return initByStrides(layout.words, rank, dims, getCode(element), steps) ==
           0;
  return createByStrides(reinterpret_cast<void **>(layout.words), rank, dims,
                         getCode(element), steps) == 0;
}

bool OneDNN::describeAny(Layout &layout, Element element,
                         llvm::ArrayRef<int64_t> sizes) const {
  constexpr int any = 1;
  int64_t dims[kMaxRank] = {};
  llvm::copy(sizes, dims);
  int rank = sizes.size();
  if (version == 2)
    return initByTag(layout.words, rank, dims, getCode(element), any) == 0;
  return createByTag(reinterpret_cast<void **>(layout.words), rank, dims,
                     getCode(element), any) == 0;
}

void *OneDNN::makeAttributes(bool accumulate) const {
  void *attributes = nullptr;
  createAttributes(&attributes);
  constexpr int user = 1;
  setScratchpadMode(attributes, user);
  if (accumulate) {
    void *postOps = nullptr;
    createPostOps(&postOps);
    appendSum(postOps, 1.0f, /*zeroPoint=*/0, /*type=*/0);
    setPostOps(attributes, postOps);
    destroyPostOps(postOps);
  }
  return attributes;
}

Primitive OneDNN::finish(void *descriptor) const {
  Primitive made;
  made.descriptor = descriptor;
  constexpr int scratchpad = 136;
  if (createPrimitive(&made.primitive, descriptor) != 0)
    made.primitive = nullptr;
  else if (const void *layout = queryLayout(descriptor, scratchpad, 0)) {
    made.scratchLayout = layout;
    made.scratchBytes = getLayoutSize(layout);
  }
  return made;
}

void OneDNN::destroy(const Primitive &primitive) const {
  if (primitive.primitive)
    destroyPrimitive(primitive.primitive);
  if (primitive.descriptor)
    destroyDescriptor(primitive.descriptor);
}

void OneDNN::destroy(const Layout &layout) const {
  // In version 2 it is a structure.
  if (version == 3 && getPointer(layout))
    destroyLayout(const_cast<void *>(getPointer(layout)));
}

bool OneDNN::execute(const Primitive &primitive,
                     llvm::ArrayRef<Operand> operands) const {
  struct Argument {
    int number;
    void *memory;
  };
  static thread_local const Stream own;
  if (!own.stream)
    return false;
  constexpr int scratchNumber = 80;
  llvm::SmallVector<Argument, 8> arguments;
  auto add = [&](int number, const void *layout, void *data) {
    void *memory = nullptr;
    bool made = createMemory(&memory, layout, engine, data) == 0;
    arguments.push_back({number, memory});
    return made;
  };
  bool done = true;
  for (const Operand &operand : operands)
    done &= add(operand.number, operand.layout, operand.data);
  void *scratch = nullptr;
  if (primitive.scratchBytes) {
    scratch =
        std::aligned_alloc(4096, (primitive.scratchBytes + 4095) / 4096 * 4096);
    done &= scratch && add(scratchNumber, primitive.scratchLayout, scratch);
  }
  done = done &&
         executePrimitive(primitive.primitive, own.stream, arguments.size(),
                          arguments.data()) == 0 &&
         waitForStream(own.stream) == 0;
  for (const Argument &argument : arguments)
    destroyMemory(argument.memory);
  std::free(scratch);
  return done;
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

namespace {
/// A primitive for products of certain sizes and strides, and the layouts of
/// its operands. The primitive is null if oneDNN has no code for them.
struct Multiplication {
  Multiplication() = default;
  Multiplication(const Multiplication &) = delete;
  Multiplication &operator=(const Multiplication &) = delete;
  ~Multiplication() {
    const OneDNN *library = OneDNN::get();
    library->destroy(primitive);
    for (const Layout &layout : layouts)
      library->destroy(layout);
  }

  Layout layouts[3];
  Primitive primitive;
};
} // namespace

/// The sizes and strides of operand `operand`, whose matrix has dimensions
/// `first` and `second`.
static void lay(const Product &product, unsigned operand, const Extent &first,
                const Extent &second, llvm::SmallVectorImpl<int64_t> &sizes,
                llvm::SmallVectorImpl<int64_t> &strides) {
  for (const Extent &extent : product.batch) {
    sizes.push_back(extent.size);
    strides.push_back(extent.strides[operand]);
  }
  for (const Extent *extent : {&first, &second}) {
    sizes.push_back(extent->size);
    strides.push_back(extent->strides[operand]);
  }
}

static void create(const OneDNN &library, const Product &product,
                   Multiplication &made) {
  const Extent *matrices[3][2] = {{&product.rows, &product.reduction},
                                  {&product.reduction, &product.columns},
                                  {&product.rows, &product.columns}};
  for (unsigned i = 0; i < 3; ++i) {
    llvm::SmallVector<int64_t> sizes, strides;
    lay(product, i, *matrices[i][0], *matrices[i][1], sizes, strides);
    if (!library.describe(made.layouts[i],
                          i == 2 ? product.sum : product.factor, sizes,
                          strides))
      return;
  }
  void *attributes = library.makeAttributes(product.accumulate);
  void *descriptor = nullptr;
  const void *left = library.getPointer(made.layouts[0]);
  const void *right = library.getPointer(made.layouts[1]);
  const void *sum = library.getPointer(made.layouts[2]);
  bool found;
  if (library.version == 2) {
    Descriptor operation;
    found =
        library.initMatmul(operation.words, left, right, nullptr, sum) == 0 &&
        library.createDescriptor(&descriptor, operation.words, attributes,
                                 library.engine, nullptr) == 0;
  } else {
    found = library.createMatmul(&descriptor, library.engine, left, right,
                                 nullptr, sum, attributes) == 0;
  }
  library.destroyAttributes(attributes);
  if (found)
    made.primitive = library.finish(descriptor);
}

/// Computes `product` by one primitive.
static bool execute(const OneDNN &library, const Product &product, void *left,
                    void *right, void *sum) {
  llvm::SmallVector<int64_t, 32> key = {
      int64_t(product.factor), int64_t(product.sum), product.accumulate};
  auto append = [&](const Extent &extent) {
    key.push_back(extent.size);
    key.append(std::begin(extent.strides), std::end(extent.strides));
  };
  llvm::for_each(product.batch, append);
  append(product.rows);
  append(product.columns);
  append(product.reduction);
  static auto *cache = new PrimitiveCache<Multiplication>;
  auto multiplication = cache->get(
      key, [&](Multiplication &made) { create(library, product, made); });
  if (!multiplication->primitive.primitive)
    return false;
  constexpr int leftNumber = 1, rightNumber = 33, sumNumber = 17;
  auto getLayout = [&](unsigned operand) {
    return library.getPointer(multiplication->layouts[operand]);
  };
  return library.execute(multiplication->primitive,
                         {{leftNumber, getLayout(0), left},
                          {rightNumber, getLayout(1), right},
                          {sumNumber, getLayout(2), sum}});
}

/// The columns that one primitive computes. Where rows of the right factor
/// begin at multiples of 4096 bytes, a core's cache has few places for them.
/// oneDNN copies such a factor by parts only if the number of columns is a
/// power of two; otherwise a product takes 2.5 times as long.
static int64_t getNumColumnsAtOnce(const Product &product) {
  int64_t columns = product.columns.size;
  constexpr int64_t page = 4096 / sizeof(float);
  bool isSlow = product.factor == Element::f32 && columns % page == 0 &&
                product.columns.strides[1] == 1 &&
                product.reduction.strides[1] % page == 0;
  // The largest power of two that divides it.
  return isSlow ? columns & -columns : columns;
}

bool mlir::fad::multiplyByOneDNN(const Product &product, void *left,
                                 void *right, void *sum) {
  const OneDNN *library = OneDNN::get();
  if (!library || getCode(product.factor) == 0 ||
      product.batch.size() + 2 > OneDNN::kMaxRank)
    return false;
  Product part = product;
  part.columns.size = getNumColumnsAtOnce(product);
  int64_t numParts =
      part.columns.size ? product.columns.size / part.columns.size : 1;
  for (int64_t i = 0; i < numParts; ++i) {
    auto at = [&](void *data, unsigned operand, Element element) {
      return static_cast<char *>(data) + i * part.columns.size *
                                             product.columns.strides[operand] *
                                             getBytes(element);
    };
    if (!execute(*library, part, left, at(right, 1, product.factor),
                 at(sum, 2, product.sum)))
      return false;
  }
  return true;
}
