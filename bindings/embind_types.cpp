// Embind's own start-up (libembind's bind.cpp) registers every type it knows, strings, views, 64-bit integers and
// JavaScript values among them, and names types with sprintf: 3.3 KB of wasm and 1.9 KB of glue, gzipped, that nothing
// here uses. The linker takes the definitions below first, so that file and the glue of those types stay out.
#include <emscripten/bind.h>

#include <limits>

extern "C" {

// Bindings register themselves when they are constructed; the list of them serves threads, which this module has not.
void _embind_register_bindings(emscripten::internal::InitFunc* /*bindings*/) {}
void _embind_initialize_bindings() {}

// Names types in errors about types that were never registered, of which EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0 has none.
const char* __getTypeName(const std::type_info* /*type*/) { return nullptr; }

}  // extern "C"

namespace {

template <class T>
void register_integer(const char* name) {
  using Limits = std::numeric_limits<T>;
  emscripten::internal::_embind_register_integer(emscripten::internal::TypeID<T>::get(), name, sizeof(T), Limits::min(),
                                                 Limits::max());
}

}  // namespace

EMSCRIPTEN_BINDINGS(types) {
  using emscripten::internal::TypeID;
  emscripten::internal::_embind_register_void(TypeID<void>::get(), "void");
  // For the glue of integers, which uses a constant that only the glue of bool asks for (Emscripten 3.1.69).
  emscripten::internal::_embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  register_integer<int>("int");
  register_integer<unsigned>("unsigned int");
  emscripten::internal::_embind_register_float(TypeID<float>::get(), "float", sizeof(float));
}
