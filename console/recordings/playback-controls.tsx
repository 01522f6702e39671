import type { ReadonlySignal } from '@preact/signals'
import { Icon, type IconName } from '../ui/icons.tsx'
import type { Playback } from './playback/playback.ts'
import type { RecordingPlayer } from './playback/recording-player.ts'
import { type CalendarDay, formatUtcOffset, hasClockChange } from './timeline/calendar-day.ts'
import './playback-controls.css'

/** The selectable speeds, as multiples of the normal speed. */
export const PLAYBACK_RATES: readonly number[] = [0.25, 0.5, 1, 2, 4, 8, 16]

interface PlaybackControlsProps {
  player: RecordingPlayer
  day: CalendarDay
  muted: boolean
  onMuted(muted: boolean): void
  /** The channel whose metadata is shown; by default the first. */
  channel: number | undefined
  onChannel(channel: number): void
}

/** The toolbar below a recorded video. Tooltips name the keyboard shortcuts. */
export function PlaybackControls({
  player,
  day,
  muted,
  onMuted,
  channel,
  onChannel,
}: PlaybackControlsProps) {
  const { playback } = player
  const channels = player.channels.value
  return (
    <div class="playback-controls" role="toolbar" aria-label="Playback">
      <NavigationButtons player={player} />
      <Clock position={playback.position} withOffset={hasClockChange(day)} />
      <span class="group">
        <SpeedSelect playback={playback} />
        {channels.length > 1 && (
          <ChannelSelect
            channels={channels}
            selected={channel ?? channels[0]}
            onChannel={onChannel}
          />
        )}
        {playback.hasSound.value && (
          <IconButton
            label={muted ? 'Unmute' : 'Mute'}
            shortcut="M"
            icon={muted ? 'muted' : 'sound'}
            onClick={() => onMuted(!muted)}
          />
        )}
      </span>
    </div>
  )
}

/** Buttons to play, and to go to another frame or event. */
function NavigationButtons({ player }: { player: RecordingPlayer }) {
  const { playback } = player
  const isPlaying = playback.isPlaying.value
  return (
    <span class="group">
      <IconButton
        label="Previous event"
        shortcut="P"
        icon="previousEvent"
        onClick={() => player.goToEvent('previous')}
      />
      <IconButton
        label="Previous frame"
        shortcut=","
        icon="previousFrame"
        onClick={() => playback.step(-1)}
      />
      <IconButton
        class="primary"
        label={isPlaying ? 'Pause' : 'Play'}
        shortcut="space"
        icon={isPlaying ? 'pause' : 'play'}
        onClick={player.togglePlay}
      />
      <IconButton
        label="Next frame"
        shortcut="."
        icon="nextFrame"
        onClick={() => playback.step(1)}
      />
      <IconButton
        label="Next event"
        shortcut="N"
        icon="nextEvent"
        onClick={() => player.goToEvent('next')}
      />
    </span>
  )
}

interface ChannelSelectProps {
  channels: readonly number[]
  selected: number | undefined
  onChannel(channel: number): void
}

function ChannelSelect({ channels, selected, onChannel }: ChannelSelectProps) {
  return (
    <select
      aria-label="Channel"
      value={selected}
      onChange={event => {
        onChannel(Number(event.currentTarget.value))
        releaseFocus(event)
      }}
    >
      {channels.map(id => (
        <option key={id} value={id}>
          Channel {id}
        </option>
      ))}
    </select>
  )
}

/** Removes the focus from a select, which would otherwise handle the keys that control playback. */
const releaseFocus = ({ currentTarget }: { currentTarget: HTMLElement }) => currentTarget.blur()

interface IconButtonProps {
  label: string
  shortcut: string
  icon: IconName
  class?: string
  onClick(): void
}

function IconButton({ label, shortcut, icon, onClick, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={`${label} (${shortcut})`}
      aria-label={label}
      onClick={onClick}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  )
}

function SpeedSelect({ playback }: { playback: Playback }) {
  return (
    <select
      aria-label="Speed"
      title="Speed (< and >)"
      value={playback.rate.value}
      onChange={event => {
        playback.setRate(Number(event.currentTarget.value))
        releaseFocus(event)
      }}
    >
      {PLAYBACK_RATES.map(rate => (
        <option key={rate} value={rate}>
          {rate}×
        </option>
      ))}
    </select>
  )
}

interface ClockProps {
  position: ReadonlySignal<number | undefined>
  /** Whether to show the offset from UTC, on days when local time may be ambiguous. */
  withOffset: boolean
}

/** The local time at which the displayed frame was recorded, with tenths of a second. */
function Clock({ position, withOffset }: ClockProps) {
  const timeMs = position.value
  if (timeMs === undefined) return <time class="clock">–</time>
  const date = new Date(timeMs)
  const tenths = Math.floor(date.getMilliseconds() / 100)
  return (
    <time class="clock" dateTime={date.toISOString()}>
      {date.toTimeString().slice(0, 8)}
      <small>
        .{tenths}
        {withOffset && ` ${formatUtcOffset(timeMs)}`}
      </small>
    </time>
  )
}
