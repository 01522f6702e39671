import { duration, fileSize } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { bytesIn, lengthMs, type Recorded } from './playback/recorded-ranges.ts'
import { clockText, type Span } from './timeline/timeline-scale.ts'
import './clip-panel.css'

interface ClipPanelProps {
  stream: number
  recorded: readonly Recorded[]
  clip: Partial<Span>
  onBegin(): void
  onEnd(): void
  onClear(): void
}

/** As many seconds as one clip may have. */
const MOST_S = 4 * 3600

/** Chooses a time and downloads it as one file. */
export function ClipPanel({ stream, recorded, clip, onBegin, onEnd, onClear }: ClipPanelProps) {
  const { from, to } = clip
  const span = from !== undefined && to !== undefined ? { from, to } : undefined
  const refusal = span && refusalOf(span, recorded)
  return (
    <section class="clip-panel" aria-label="Clip">
      <h2>Clip</h2>
      <button type="button" title="The clip begins here (I)" onClick={onBegin}>
        From {from === undefined ? '…' : clockText(from, true)}
      </button>
      <button type="button" title="The clip ends here (O)" onClick={onEnd}>
        To {to === undefined ? '…' : clockText(to, true)}
      </button>
      {span && !refusal && (
        <>
          <a class="action" href={pathOf(stream, span)} download>
            <Icon name="download" /> Download
          </a>
          <span class="about">
            {duration(lengthMs(recorded, span) / 1000)}, about {fileSize(bytesIn(recorded, span))}
          </span>
        </>
      )}
      {refusal && <span class="about wrong">{refusal}</span>}
      {!span && <span class="about">Go to where it is to begin and press From, then the same with To.</span>}
      {(from !== undefined || to !== undefined) && (
        <button type="button" class="clear" onClick={onClear}>
          Clear
        </button>
      )}
    </section>
  )
}

function refusalOf(span: Span, recorded: readonly Recorded[]): string | undefined {
  if (span.to <= span.from) return 'The end must be later than the beginning.'
  if (span.to - span.from > MOST_S * 1000) return `A clip has ${MOST_S / 3600} hours at most.`
  return lengthMs(recorded, span) === 0 ? 'Nothing is recorded in this time.' : undefined
}

function pathOf(stream: number, { from, to }: Span): string {
  const [begin, end] = [from, to].map(timeMs => encodeURIComponent(new Date(timeMs).toISOString()))
  return `/live/recordings/${stream}/clip.mp4?from=${begin}&to=${end}`
}
