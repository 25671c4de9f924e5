package backend

import (
	"errors"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isOtherUID reports whether a patch has met another object of the name. A UID in a patch
// is a change of the UID to the server, which refuses it. It refuses patches for other
// reasons, too, such as an object that it would not accept any more: that object is still
// there.
func isOtherUID(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldValueInvalid && cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// isGone reports whether a deletion on condition of the UID has met no object or another one.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && otherUIDInPrecondition.MatchString(err.Error())
}

// otherUIDInPrecondition is how a server says that the UID differs; the answer has no field
// for it. A conflict with any other text may leave the object where it is, so it counts as
// an error, and the deletion is tried again.
var otherUIDInPrecondition = regexp.MustCompile(`UID in (the )?precondition`)
