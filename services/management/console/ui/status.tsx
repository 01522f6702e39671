import type { PipelineStatus } from '@eyrie/contract/pipeline'
import './status.css'

/** A pipeline's status as a coloured dot with its word. */
export function Status({ of }: { of: PipelineStatus }) {
  return <span class={`status ${of}`}>{of}</span>
}
