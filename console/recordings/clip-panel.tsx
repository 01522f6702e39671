import type { RecordingList } from '@eyrie/contract/recording'
import { usePolling } from '../api/use-polling.ts'
import { capitalize, formatDuration, formatFileSize } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import {
  countRecordedMs,
  estimateBytes,
  parseRanges,
  type TimeSpan,
  toTimeSpan,
} from './playback/recorded-ranges.ts'
import { formatClock } from './timeline/timeline-scale.ts'
import './clip-panel.css'

interface ClipPanelProps {
  stream: number
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
/** How often the figures of a clip are updated: recordings may be deleted. */
const FIGURES_INTERVAL_MS = 10_000

/** Buttons that select a time range and download it as one MP4 file. */
export function ClipPanel({ stream, clip, onStart, onEnd, onClear }: ClipPanelProps) {
  const { from, to } = clip
  const span = toTimeSpan(clip)
  const problem = span && findProblem(span)
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
      {span && !problem && <ClipDownload stream={stream} span={span} />}
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

/**
 * The link to a clip, with its figures. They are those of the range itself: it may be on another
 * day than the selected one.
 */
function ClipDownload({ stream, span }: { stream: number; span: TimeSpan }) {
  const query = toQuery(span)
  const path = `/live/recordings?stream=${stream}&${query}`
  const { data, error } = usePolling<RecordingList>(path, FIGURES_INTERVAL_MS).value
  const recorded = data?.streams.flatMap(({ ranges }) => parseRanges(ranges))
  const recordedMs = recorded && countRecordedMs(recorded, span)

  if (recordedMs === 0) {
    return <span class="details error">Nothing is recorded in this range.</span>
  }
  return (
    <>
      <a class="action" href={`/live/recordings/${stream}/clip.mp4?${query}`} download>
        <Icon name="download" /> Download
      </a>
      {recorded && recordedMs !== undefined && (
        <span class="details">
          {formatDuration(recordedMs / 1000)}, about {formatFileSize(estimateBytes(recorded, span))}
        </span>
      )}
      {error && !recorded && <span class="details error">{capitalize(error)}</span>}
    </>
  )
}

/** Returns why the range cannot be a clip; undefined if it can. */
function findProblem({ from, to }: TimeSpan): string | undefined {
  if (to <= from) return 'The end must be after the start.'
  if (to - from > MAX_CLIP_HOURS * HOUR_MS) {
    return `A clip can be at most ${MAX_CLIP_HOURS} hours long.`
  }
  return undefined
}

const toQuery = ({ from, to }: TimeSpan) =>
  new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
