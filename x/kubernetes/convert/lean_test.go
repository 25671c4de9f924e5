package convert_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// scheme has the kinds that the tests need. With client-go's scheme, every importer of convert
// would need client-go in its go.sum.
var (
	scheme = newScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(batchv1.AddToScheme(s))
	return s
}

// decoders returns the protobuf decoders of a client, without and with Lean.
func decoders(types *runtime.Scheme) (whole, lean runtime.Decoder) {
	inner := protobuf.NewSerializer(types, types)
	all := codecs.WithoutConversion()
	return all.DecoderToVersion(inner, nil), convert.Lean(all).DecoderToVersion(inner, nil)
}

// encode returns an object as a server sends it.
func encode(t testing.TB, o runtime.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	must.OK(t, protobuf.NewSerializer(scheme, scheme).Encode(o, &out))
	return out.Bytes()
}

func decode(t testing.TB, d runtime.Decoder, data []byte) runtime.Object {
	t.Helper()
	o, _, err := d.Decode(data, nil, nil)
	must.OK(t, err)
	return o
}

// FuzzLean: a pod that is decoded with Lean and trimmed equals one decoded without Lean and
// trimmed, alone and in a list.
func FuzzLean(f *testing.F) {
	seeds(f)
	whole, lean := decoders(scheme)
	f.Fuzz(func(t *testing.T, data []byte) {
		var pod corev1.Pod
		fill(data, &pod)
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		message := encode(t, &pod)
		kind := "Job"
		if ref := metav1.GetControllerOf(&pod); ref != nil {
			kind = ref.Kind
		}
		compare := func(a, b *corev1.Pod) {
			t.Helper()
			if diff := cmp.Diff(trim(t, a, kind), trim(t, b, kind)); diff != "" {
				t.Fatalf("(-whole +lean):\n%s", diff)
			}
			if len(b.ManagedFields)+len(b.Spec.Containers)+len(b.Spec.Volumes) > 0 || b.Status.HostIP != "" {
				t.Fatalf("nothing was dropped: %+v", b)
			}
		}
		compare(decode(t, whole, message).(*corev1.Pod), decode(t, lean, message).(*corev1.Pod))
		var into corev1.Pod
		if _, _, err := lean.Decode(message, nil, &into); err != nil {
			t.Fatal(err)
		}
		compare(decode(t, whole, message).(*corev1.Pod), &into)

		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "x"}, Items: []corev1.Pod{pod, {}, pod}}
		list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}
		message = encode(t, list)
		a, b := decode(t, whole, message).(*corev1.PodList), decode(t, lean, message).(*corev1.PodList)
		if diff := cmp.Diff(a.ListMeta, b.ListMeta); diff != "" || len(b.Items) != 3 {
			t.Fatalf("%d items (-whole +lean):\n%s", len(b.Items), diff)
		}
		for i := range a.Items {
			compare(&a.Items[i], &b.Items[i])
		}
	})
}

// FuzzLean_Malformed: a malformed message gives the same object or error as without Lean.
func FuzzLean_Malformed(f *testing.F) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}}
	message := encode(f, pod)
	for n := range message {
		f.Add(message[:n])
		f.Add(append(bytes.Clone(message[:n]), 0xff))
	}
	f.Add(message)

	whole, lean := decoders(scheme)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		a, kind, err := whole.Decode(data, nil, nil)
		b, leanKind, leanErr := lean.Decode(data, nil, nil)

		if !bytes.Equal(before, data) {
			t.Fatal("the message was written to")
		}
		if err == nil && (leanErr != nil || !cmp.Equal(kind, leanKind)) {
			t.Fatalf("whole %v, lean %v, %v", kind, leanKind, leanErr)
		}

		p, ok := a.(*corev1.Pod)
		if err != nil || !ok {
			return
		}
		if diff := cmp.Diff(trim(t, p, "Job"), trim(t, b.(*corev1.Pod), "Job")); diff != "" {
			t.Fatalf("(-whole +lean):\n%s", diff)
		}
	})
}

// TestLean_Truncated: a message is cut off, has an extra byte, or has a number in place of the
// object. With Lean and without it, decoding fails with the same error.
func TestLean_Truncated(t *testing.T) {
	whole, lean := decoders(scheme)
	message := encode(t, &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	about := 6 + int(message[5])                                      // the magic, and the field of the type
	inputs := [][]byte{append(bytes.Clone(message[:about]), 0x10, 1)} // a number in place of the object
	for n := range len(message) {
		inputs = append(inputs, message[:n])
	}
	for _, data := range append(inputs, append(bytes.Clone(message), 0xff)) {
		_, _, err := whole.Decode(data, nil, nil)
		_, _, leanErr := lean.Decode(data, nil, nil)
		if fmt.Sprint(leanErr) != fmt.Sprint(err) {
			t.Errorf("%d of %d bytes: whole %v, lean %v", len(data), len(message), err, leanErr)
		}
	}
}

// TestLean_Others: objects of other kinds or groups, or not in protobuf, keep everything.
func TestLean_Others(t *testing.T) {
	types := newScheme()
	types.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Pod"}, &corev1.Pod{})
	whole, lean := decoders(types)

	managed := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	for _, o := range []runtime.Object{
		&batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: "j", ManagedFields: managed}},
		&corev1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Name: "e", ManagedFields: managed}},
		&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Message: "no"},
		&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p", ManagedFields: managed}},
	} {
		message := encode(t, o)
		if diff := cmp.Diff(decode(t, whole, message), decode(t, lean, message)); diff != "" {
			t.Errorf("%T (-whole +lean):\n%s", o, diff)
		}
	}

	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	d := convert.Lean(codecs.WithoutConversion()).DecoderToVersion(info.Serializer, nil)
	text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","generateName":"g"}}`)
	if p := decode(t, d, text).(*corev1.Pod); p.Name != "p" || p.GenerateName != "g" {
		t.Errorf("got %+v", p)
	}
}
