#!/bin/sh
# Download with curl: get.sh FOLDER URL SECONDS VERSION. Without SECONDS, curl downloads the file once; otherwise repeatedly on one
# connection, until the time is over (exit status 124 of timeout).
folder=$1 url=$2/object seconds=$3 version=$4
if [ -n "$seconds" ]; then
    url="$url?[1-1000000]"
fi
LD_LIBRARY_PATH=$folder/lib timeout "${seconds:-0}" "$folder/curl" \
    --silent --show-error --fail --fail-early --insecure "--http$version" --output /dev/null "$url"
status=$?
[ $status -eq 124 ] || exit $status
