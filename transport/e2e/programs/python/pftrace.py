"""Reads a .pftrace with the definitions that Perfetto publishes (package `perfetto`), and says what is wrong with it.

python3 pftrace.py FILE prints `slices N, instants N, counters N, tracks N` and names of tracks; ends with 1 if a slice
is not closed, slices of a track overlap without lying within each other, a track or a name is not known, or a
field is not one of Perfetto's."""

import collections
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def unknown_fields(message):
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = [(type(message).__name__, field.field_number) for field in UnknownFieldSet(message)]
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        values = [value] if hasattr(value, "ListFields") else value
        for one in values:
            found += unknown_fields(one)
    return found


def main(path):
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    problems = []
    names, categories, annotations, texts = {}, {}, {}, {}
    tracks, events, clocks = {}, collections.defaultdict(list), 0
    counts = collections.Counter()
    for packet in trace.packet:
        problems += [f"unknown field {field}" for field in unknown_fields(packet)]
        if packet.sequence_flags & 1:
            names.clear(), categories.clear(), annotations.clear(), texts.clear()
        data = packet.interned_data
        names.update((n.iid, n.name) for n in data.event_names)
        categories.update((n.iid, n.name) for n in data.event_categories)
        annotations.update((n.iid, n.name) for n in data.debug_annotation_names)
        texts.update((n.iid, n.str) for n in data.debug_annotation_string_values)
        if packet.HasField("clock_snapshot"):
            clocks += 1
            ids = {clock.clock_id for clock in packet.clock_snapshot.clocks}
            if not {1, 3, 6} <= ids or packet.clock_snapshot.primary_trace_clock != 6:
                problems.append("the clocks are not those of Linux")
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.parent_uuid and track.parent_uuid not in tracks:
                problems.append(f"track {track.uuid} lies below one that is not known")
            name = track.name or track.thread.thread_name or track.process.process_name
            if not name:
                problems.append(f"track {track.uuid} has no name")
            tracks[track.uuid] = (name, track.HasField("counter"))
        if packet.HasField("track_event"):
            event = packet.track_event
            if event.track_uuid not in tracks:
                problems.append(f"an event on track {event.track_uuid}, which is not known")
            if packet.timestamp_clock_id != 6 or not packet.timestamp:
                problems.append("an event without a time of CLOCK_BOOTTIME")
            if event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT):
                if event.name_iid not in names or any(i not in categories for i in event.category_iids):
                    problems.append("an event whose name is not known")
                for annotation in event.debug_annotations:
                    if annotation.name_iid not in annotations:
                        problems.append("an argument whose name is not known")
                    if annotation.WhichOneof("value") == "string_value_iid" and annotation.string_value_iid not in texts:
                        problems.append("an argument whose text is not known")
            counts[event.type] += 1
            events[event.track_uuid].append((packet.timestamp, event.type))
    if clocks != 1:
        problems.append(f"{clocks} snapshots of clocks")
    for uuid, of in events.items():
        # Pairs come in the order in which slices ended: begin and end stand beside each other.
        pairs, begun = [], None
        for time, kind in of:
            if kind == TrackEvent.TYPE_SLICE_BEGIN:
                if begun is not None:
                    problems.append(f"{tracks.get(uuid)}: a slice that is not closed")
                begun = time
            elif kind == TrackEvent.TYPE_SLICE_END:
                if begun is None or time < begun:
                    problems.append(f"{tracks.get(uuid)}: an end without a beginning before it")
                else:
                    pairs.append((begun, -time))
                begun = None
        if begun is not None:
            problems.append(f"{tracks.get(uuid)}: a slice that is not closed")
        open_until = []
        for start, end in sorted(pairs):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            if open_until and open_until[-1] < -end:
                problems.append(f"{tracks.get(uuid)}: slices overlap at {start}")
            open_until.append(-end)
    if counts[TrackEvent.TYPE_SLICE_BEGIN] != counts[TrackEvent.TYPE_SLICE_END]:
        problems.append("beginnings and ends differ in number")
    print(
        f"slices {counts[TrackEvent.TYPE_SLICE_BEGIN]}, instants {counts[TrackEvent.TYPE_INSTANT]}, "
        f"counters {counts[TrackEvent.TYPE_COUNTER]}, tracks {len(tracks)}"
    )
    for name, _ in tracks.values():
        print(name)
    for problem in sorted(set(problems)):
        print("wrong:", problem)
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
