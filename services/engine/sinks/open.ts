import { fileURLToPath } from 'node:url'
import type { Sink as SinkPlan } from '@eyrie/contract/sink'
import { DiscardSink } from './discard.ts'
import { FileSink } from './file.ts'
import type { RotatingFileOptions } from './rotating-file.ts'
import type { Sink } from './sink.ts'

/** Opens a sink as configured. Its address was checked when it was; what the disk makes of it shows as its `failure`. */
export function openSink({ type, address }: Pick<SinkPlan, 'type' | 'address'>): Sink {
  return type === 'file' ? new FileSink(parseFileAddress(address)) : new DiscardSink()
}

/** `file:///folder/name.jsonl?max_bytes=67108864&keep=5`, or the bare path. A bound that is no number is the default. */
export function parseFileAddress(address: string): RotatingFileOptions {
  const url = new URL(address, 'file://')
  const { searchParams } = url
  const maxBytes = wholeNumber(searchParams.get('max_bytes')) ?? 64 << 20
  const keep = wholeNumber(searchParams.get('keep')) ?? 5
  url.search = ''
  return { path: fileURLToPath(url), maxBytes, keep }
}

const wholeNumber = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : undefined)
