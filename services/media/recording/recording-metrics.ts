import { addCounter, addGauge, type Sample } from '@eyrie/kit/prometheus-metrics'
import type { Registry } from 'prom-client'
import type { Recordings } from './recordings.ts'
import type { RecorderStatus } from './writing/source-recorder.ts'

/** Registers the Prometheus metrics of all recorders. A recorder writes one source to disk. */
export function registerRecordingMetrics(
  registry: Registry,
  recordings: Pick<Recordings, 'statuses' | 'queuedBytes'>,
): void {
  const labelNames = ['source']

  function sampleRecorders(getValue: (status: RecorderStatus) => number): Sample[] {
    return recordings.statuses().map(({ source, status }) => [{ source }, getValue(status)])
  }

  addGauge(registry, {
    name: 'eyrie_media_recording',
    help: 'Whether the packets of the source are being written.',
    labelNames,
    read: () => sampleRecorders(({ state }) => Number(state === 'recording')),
  })
  addCounter(registry, {
    name: 'eyrie_media_recorded_bytes_total',
    help: 'Bytes queued for writing.',
    labelNames,
    read: () => sampleRecorders(({ bytes }) => bytes),
  })
  addCounter(registry, {
    name: 'eyrie_media_recording_dropped_total',
    help: 'Packets dropped because the disk was too slow or full.',
    labelNames,
    read: () => sampleRecorders(({ dropped }) => dropped),
  })
  addGauge(registry, {
    name: 'eyrie_media_recording_queued_bytes',
    help: 'Bytes in the write queue.',
    read: recordings.queuedBytes,
  })
}
