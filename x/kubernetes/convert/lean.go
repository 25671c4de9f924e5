package convert

import (
	"bytes"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lean returns a serializer that decodes pods without the fields that [Trim] drops. Most of a pod
// is its spec and its managed fields: a whole pod takes four times as long to decode. Only messages
// in protobuf are shortened; everything else is decoded as before.
//
// Dropped fields are empty. So do not write such a pod back: send patches.
func Lean(s runtime.NegotiatedSerializer) runtime.NegotiatedSerializer { return leanSerializer{s} }

type leanSerializer struct{ runtime.NegotiatedSerializer }

// DecoderToVersion implements [runtime.NegotiatedSerializer].
func (s leanSerializer) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return s.NegotiatedSerializer.DecoderToVersion(leanDecoder{d}, gv)
}

type leanDecoder struct{ runtime.Decoder }

// buffers holds shortened messages while they are decoded. Decoders keep no reference to them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Decode implements [runtime.Decoder].
func (d leanDecoder) Decode(
	data []byte, gvk *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if short, ok := leanMessage((*buffer)[:0], data); ok {
		*buffer, data = short, short
	}
	return d.Decoder.Decode(data, gvk, into)
}

// fields holds the numbers of the fields of a message to keep, each with the nested fields to keep;
// nil keeps the whole field.
type fields map[protowire.Number]fields

// The numbers are from k8s.io/api/core/v1/generated.proto and the files that it imports.
var (
	leanMeta = fields{
		1: nil, 3: nil, 5: nil, 6: nil, // name, namespace, UID, resource version
		8: nil, 9: nil, 10: nil, // creation, deletion, grace period
		11: nil, 12: nil, 13: nil, 14: nil, // labels, annotations, owner references, finalizers
	}
	leanSpec = fields{
		10: nil,               // node name
		20: {1: nil, 24: nil}, // init containers: name, restart policy
	}
	leanContainer = fields{1: nil, 2: nil, 5: nil} // name, state, restarts
	leanStatus    = fields{
		1: nil,                      // phase
		2: {1: nil, 2: nil, 4: nil}, // conditions: type, status, last transition
		8: leanContainer, 10: leanContainer,
	}
	leanPod  = fields{1: leanMeta, 2: leanSpec, 3: leanStatus}
	leanKind = map[string]fields{
		"Pod":     leanPod,
		"PodList": {1: nil, 2: leanPod},
	}
)

// magic begins each object in protobuf. A runtime.Unknown follows: its field 1 is the type, and its
// field 2 the object. Decoders of a type read no other field of it.
var magic = []byte("k8s\x00")

// leanMessage appends a message without the fields that are not needed. It returns false if it
// cannot parse the message, or if the kind is not in leanKind.
func leanMessage(dst, data []byte) ([]byte, bool) {
	message, found := bytes.CutPrefix(data, magic)
	if !found {
		return nil, false
	}

	num, wire, n := protowire.ConsumeTag(message)
	if num != 1 || wire != protowire.BytesType {
		return nil, false
	}

	about, _ := protowire.ConsumeBytes(message[n:])
	keep := leanKind[kindOf(about)]
	if keep == nil {
		return nil, false
	}
	return appendKept(append(dst, magic...), message, fields{1: nil, 2: keep})
}

// kindOf returns the kind in an encoded runtime.TypeMeta, or "" for a version other than v1.
func kindOf(about []byte) string {
	var meta runtime.TypeMeta
	if meta.Unmarshal(about) != nil || meta.APIVersion != "v1" {
		return ""
	}
	return meta.Kind
}

// appendKept appends those fields of a message that are in keep.
func appendKept(dst, message []byte, keep fields) ([]byte, bool) {
	for len(message) > 0 {
		num, wire, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, false
		}
		field := message[:n]
		message = message[n:]

		nested, kept := keep[num]
		switch {
		case !kept:
		case nested == nil:
			dst = append(dst, field...)
		case wire != protowire.BytesType:
			return nil, false
		default:
			_, _, tag := protowire.ConsumeTag(field)
			value, _ := protowire.ConsumeBytes(field[tag:])
			dst = append(dst, field[:tag]...)

			at := len(dst)
			var ok bool
			if dst, ok = appendKept(dst, value, nested); !ok {
				return nil, false
			}
			dst = insertLength(dst, at)
		}
	}
	return dst, true
}

// insertLength inserts, at an index, the length of the bytes that follow.
func insertLength(dst []byte, at int) []byte {
	n := len(dst) - at
	var length [10]byte
	varint := protowire.AppendVarint(length[:0], uint64(n))

	dst = append(dst, varint...)
	copy(dst[at+len(varint):], dst[at:at+n])
	copy(dst[at:], varint)
	return dst
}
