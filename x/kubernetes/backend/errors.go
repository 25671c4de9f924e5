package backend

import (
	"errors"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isOtherUID reports whether a patch has failed because another object has the name now. A server
// understands the UID in a patch as a change of the UID, and refuses it as invalid. It also refuses
// other patches as invalid, such as one of an object that it no longer accepts; that object still
// exists.
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

// isGone reports whether a deletion on condition of the UID has found no object, or one with
// another UID.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && otherUIDInPrecondition.MatchString(err.Error())
}

// otherUIDInPrecondition matches a server's message that the UID differs: the error has no field
// that says so. After any other conflict the object may still exist, so the conflict is an error,
// and the deletion is retried.
var otherUIDInPrecondition = regexp.MustCompile(`UID in (the )?precondition`)
