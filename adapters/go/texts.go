package cpubind

/*
#include <stdlib.h>
#include "cpubind_api.h"
*/
import "C"

import (
	"strings"
	"unsafe"
)

// cText is a text in the memory of C.
type cText struct {
	c *C.char
}

// newText copies a text up to its first NUL byte.
func newText(text string) cText {
	return cText{C.CString(text)}
}

// checkedText refuses a text with a NUL byte, which the library would cut.
func checkedText(text string) (cText, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return cText{}, &Error{Code: "usage", Text: "a text has a NUL byte"}
	}
	return newText(text), nil
}

func (t cText) free() {
	C.free(unsafe.Pointer(t.c))
}

// cTexts is an array of texts that ends with NULL, in the memory of C: an array of Go may not
// hold pointers there.
type cTexts struct {
	c **C.char
	n int
}

func newTexts(texts []string) (cTexts, error) {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return cTexts{}, &Error{Code: "usage", Text: "a text has a NUL byte"}
		}
	}
	size := C.size_t(unsafe.Sizeof((*C.char)(nil)))
	array := cTexts{(**C.char)(C.calloc(C.size_t(len(texts)+1), size)), len(texts)}
	if array.c == nil {
		return cTexts{}, failure(nil)
	}
	items := array.items()
	for i, text := range texts {
		items[i] = C.CString(text)
	}
	return array, nil
}

func (a cTexts) items() []*C.char {
	return unsafe.Slice(a.c, a.n)
}

func (a cTexts) free() {
	for _, item := range a.items() {
		C.free(unsafe.Pointer(item))
	}
	C.free(unsafe.Pointer(a.c))
}

// copied is a list of the library in memory of Go.
func copied(first *C.int32_t, n C.int32_t) []int32 {
	if first == nil || n <= 0 {
		return nil
	}
	list := make([]int32, n)
	copy(list, unsafe.Slice((*int32)(unsafe.Pointer(first)), n))
	return list
}

// takenText is a text that a call has made, which is freed here.
func takenText(text *C.char, taken *C.cpb_error) (string, error) {
	if text == nil {
		return "", failure(taken)
	}
	defer C.cpb_text_free(text)
	return C.GoString(text), nil
}
