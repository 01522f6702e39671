import type { ReadonlySignal } from '@preact/signals'
import { type Day, offsetText } from './timeline/calendar-day.ts'
import { Icon } from '../ui/icons.tsx'
import type { Playback } from './playback/playback.ts'
import type { Viewing } from './playback/recording-player.ts'
import './playback-controls.css'

export const RATES: readonly number[] = [0.25, 0.5, 1, 2, 4, 8, 16]

interface TransportProps {
  viewing: Viewing
  day: Day
  muted: boolean
  onMuted(muted: boolean): void
  /** Which channel's results are drawn, where there are several. */
  channel: number | undefined
  onChannel(channel: number): void
}

/** Everything that moves the playback. Each of it has a key of its own. */
export function Transport({ viewing, day, muted, onMuted, channel, onChannel }: TransportProps) {
  const { playback, channels } = viewing
  const isPlaying = playback.playing.value
  return (
    <div class="transport" role="toolbar" aria-label="Playback">
      <span class="group">
        <Control title="Event before (P)" onClick={() => viewing.toEvent(-1)} icon="previousEvent" />
        <Control title="Picture before (,)" onClick={() => playback.step(-1)} icon="stepBack" />
        <button
          type="button"
          class="main"
          title={isPlaying ? 'Pause (space)' : 'Play (space)'}
          aria-label={isPlaying ? 'Pause' : 'Play'}
          onClick={viewing.toggle}
        >
          <Icon name={isPlaying ? 'pause' : 'play'} />
        </button>
        <Control title="Next picture (.)" onClick={() => playback.step(1)} icon="stepOn" />
        <Control title="Next event (N)" onClick={() => viewing.toEvent(1)} icon="nextEvent" />
      </span>
      <Clock position={playback.position} isOdd={day.to - day.from !== 86_400_000} />
      <span class="group">
        <Speed playback={playback} />
        {(channels.value?.length ?? 0) > 1 && (
          <select
            aria-label="Results of"
            value={channel ?? channels.value?.[0]}
            onChange={event => {
              onChannel(Number(event.currentTarget.value))
              giveKeysBack(event)
            }}
          >
            {channels.value?.map(id => (
              <option key={id} value={id}>
                Channel {id}
              </option>
            ))}
          </select>
        )}
        {playback.hasSound.value && (
          <Control
            title={muted ? 'Sound on (M)' : 'Sound off (M)'}
            onClick={() => onMuted(!muted)}
            icon={muted ? 'silence' : 'sound'}
          />
        )}
      </span>
    </div>
  )
}

/** A choice that has the focus takes the keys that move the playback. */
const giveKeysBack = ({ currentTarget }: { currentTarget: HTMLElement }) => currentTarget.blur()

interface ControlProps {
  title: string
  icon: Parameters<typeof Icon>[0]['name']
  onClick(): void
}

function Control({ title, icon, onClick }: ControlProps) {
  return (
    <button type="button" title={title} aria-label={title.replace(/ \(.*/, '')} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}

function Speed({ playback }: { playback: Playback }) {
  return (
    <select
      aria-label="Speed"
      title="Speed (< and >)"
      value={playback.rate.value}
      onChange={event => {
        playback.setRate(Number(event.currentTarget.value))
        giveKeysBack(event)
      }}
    >
      {RATES.map(rate => (
        <option key={rate} value={rate}>
          {rate}×
        </option>
      ))}
    </select>
  )
}

/** When the picture was recorded, by the viewer's clocks, to the tenth of a second. */
function Clock({ position, isOdd }: { position: ReadonlySignal<number | undefined>; isOdd: boolean }) {
  const at = position.value
  if (at === undefined) return <time class="clock">–</time>
  const date = new Date(at)
  const tenths = Math.floor(date.getMilliseconds() / 100)
  return (
    <time class="clock" dateTime={date.toISOString()}>
      {date.toTimeString().slice(0, 8)}
      <small>
        .{tenths}
        {isOdd && ` ${offsetText(at)}`}
      </small>
    </time>
  )
}
