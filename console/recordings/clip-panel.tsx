import { formatDuration, formatFileSize } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import {
  countRecordedMs,
  estimateBytes,
  type RecordedSpan,
  type TimeSpan,
  toTimeSpan,
} from './playback/recorded-ranges.ts'
import { formatClock } from './timeline/timeline-scale.ts'
import './clip-panel.css'

interface ClipPanelProps {
  stream: number
  recorded: readonly RecordedSpan[]
  /** The selected range. Either end may not be selected yet. */
  clip: Partial<TimeSpan>
  /** Sets the start of the clip to the playback position. */
  onStart(): void
  /** Sets the end of the clip to the playback position. */
  onEnd(): void
  onClear(): void
}

const HOUR_MS = 3_600_000
/** The maximum length that the media service accepts. */
const MAX_CLIP_HOURS = 4

/** Buttons that select a time range and download it as one MP4 file. */
export function ClipPanel({ stream, recorded, clip, onStart, onEnd, onClear }: ClipPanelProps) {
  const { from, to } = clip
  const span = toTimeSpan(clip)
  const problem = span && findProblem(span, recorded)
  const isStarted = from !== undefined || to !== undefined
  return (
    <section class="clip-panel" aria-label="Clip">
      <h2>Clip</h2>
      <button type="button" title="Set the start of the clip (I)" onClick={onStart}>
        From {from === undefined ? '…' : formatClock(from, 'seconds')}
      </button>
      <button type="button" title="Set the end of the clip (O)" onClick={onEnd}>
        To {to === undefined ? '…' : formatClock(to, 'seconds')}
      </button>
      {span && !problem && (
        <>
          <a class="action" href={toClipUrl(stream, span)} download>
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
        <span class="details">
          Seek to the start and press From, then seek to the end and press To.
        </span>
      )}
      {isStarted && (
        <button type="button" class="clear" onClick={onClear}>
          Clear
        </button>
      )}
    </section>
  )
}

/** Returns why the range cannot be downloaded; undefined if it can. */
function findProblem(span: TimeSpan, recorded: readonly RecordedSpan[]): string | undefined {
  if (span.to <= span.from) return 'The end must be after the start.'
  if (span.to - span.from > MAX_CLIP_HOURS * HOUR_MS) {
    return `A clip can be at most ${MAX_CLIP_HOURS} hours long.`
  }
  if (countRecordedMs(recorded, span) === 0) return 'Nothing is recorded in this range.'
  return undefined
}

function toClipUrl(stream: number, { from, to }: TimeSpan): string {
  const query = new URLSearchParams({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  })
  return `/live/recordings/${stream}/clip.mp4?${query}`
}
