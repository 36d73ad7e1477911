#!/bin/sh
# Download with curl: get.sh FOLDER SERVER SECONDS VERSION. Without SECONDS, curl downloads the file once; otherwise repeatedly on one
# connection, until the time is over (exit status 124 of timeout).
folder=$1 url=http://$2/object seconds=$3 version=$4
if [ -n "$seconds" ]; then
    url="$url?[1-1000000]"
fi
timeout "${seconds:-0}" "$folder/lib/ld-linux-x86-64.so.2" --library-path "$folder/lib" "$folder/curl" \
    --silent --show-error --fail --fail-early "--http$version" --output /dev/null "$url"
status=$?
[ $status -eq 124 ] || exit $status
