import { renderMetrics } from '@eyrie/kit/prometheus-metrics'
import type { Recordings } from './recordings.ts'

/** Renders the metrics in Prometheus text format. */
export function formatRecordingMetrics(recordings: Pick<Recordings, 'statuses' | 'queuedBytes'>): string {
  const statuses = recordings.statuses()
  const sampleEach = (value: (status: (typeof statuses)[number]['status']) => number) =>
    statuses.map(({ source, status }): [Record<string, number>, number] => [{ source }, value(status)])
  return renderMetrics([
    {
      name: 'eyrie_media_recording',
      type: 'gauge',
      help: 'Whether the packets of the source are being written.',
      samples: sampleEach(({ state }) => Number(state === 'recording')),
    },
    {
      name: 'eyrie_media_recorded_bytes_total',
      type: 'counter',
      help: 'Bytes queued for writing.',
      samples: sampleEach(({ bytes }) => bytes),
    },
    {
      name: 'eyrie_media_recording_dropped_total',
      type: 'counter',
      help: 'Packets dropped because the disk was too slow or full.',
      samples: sampleEach(({ dropped }) => dropped),
    },
    {
      name: 'eyrie_media_recording_queued_bytes',
      type: 'gauge',
      help: 'Bytes in the write queue.',
      samples: [[{}, recordings.queuedBytes()]],
    },
  ])
}
