import { formatDuration, formatFileSize } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import {
  countRecordedMs,
  estimateBytes,
  type RecordedSpan,
  type TimeSpan,
} from './playback/recorded-ranges.ts'
import { formatClock } from './timeline/timeline-scale.ts'
import './clip-panel.css'

interface ClipPanelProps {
  stream: number
  recorded: readonly RecordedSpan[]
  clip: Partial<TimeSpan>
  onStart(): void
  onEnd(): void
  onClear(): void
}

/** The limit of the API. */
const MAX_CLIP_HOURS = 4

/** Selects a range and downloads it as one file. */
export function ClipPanel({ stream, recorded, clip, onStart, onEnd, onClear }: ClipPanelProps) {
  const { from, to } = clip
  const span = from !== undefined && to !== undefined ? { from, to } : undefined
  const problem = span && findProblem(span, recorded)
  return (
    <section class="clip-panel" aria-label="Clip">
      <h2>Clip</h2>
      <button type="button" title="Set the start of the clip (I)" onClick={onStart}>
        From {from === undefined ? '…' : formatClock(from, true)}
      </button>
      <button type="button" title="Set the end of the clip (O)" onClick={onEnd}>
        To {to === undefined ? '…' : formatClock(to, true)}
      </button>
      {span && !problem && (
        <>
          <a class="action" href={createClipPath(stream, span)} download>
            <Icon name="download" /> Download
          </a>
          <span class="details">
            {formatDuration(countRecordedMs(recorded, span) / 1000)}, about{' '}
            {formatFileSize(estimateBytes(recorded, span))}
          </span>
        </>
      )}
      {problem && <span class="details error">{problem}</span>}
      {!span && (
        <span class="details">Seek to the start and press From, then seek to the end and press To.</span>
      )}
      {(from !== undefined || to !== undefined) && (
        <button type="button" class="clear" onClick={onClear}>
          Clear
        </button>
      )}
    </section>
  )
}

function findProblem(span: TimeSpan, recorded: readonly RecordedSpan[]): string | undefined {
  if (span.to <= span.from) return 'The end must be after the start.'
  if (span.to - span.from > MAX_CLIP_HOURS * 3_600_000)
    return `A clip can be at most ${MAX_CLIP_HOURS} hours long.`
  return countRecordedMs(recorded, span) === 0 ? 'Nothing is recorded in this range.' : undefined
}

function createClipPath(stream: number, { from, to }: TimeSpan): string {
  const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
  return `/live/recordings/${stream}/clip.mp4?${query}`
}
