import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { formatPercent } from '../ui/format.ts'
import './sound-control.css'

const STORAGE_KEY = 'volume'
const VOLUME_STEP = 0.05
/** The slider never reaches 0, because muting is what the button is for. */
const MIN_VOLUME = VOLUME_STEP

/** Initially off, because browsers block sound until the user has interacted with the page. */
const isSoundOn = signal(false)
/** Position of the volume slider, up to 1. Stored in the browser. */
const sliderVolume = signal(loadVolume())

effect(() => localStorage.setItem(STORAGE_KEY, String(sliderVolume.value)))

/** Volume of live video, from 0 to 1. It is 0 while sound is off. */
export const volume = computed(() => (isSoundOn.value ? sliderVolume.value : 0))

function loadVolume(): number {
  const stored = Number(localStorage.getItem(STORAGE_KEY) ?? 1)
  return stored >= MIN_VOLUME && stored <= 1 ? stored : 1
}

interface SoundControlProps {
  /** Whether the video on display plays sound; undefined before there is a player. */
  isAudible: ReadonlySignal<boolean> | undefined
}

/** A button and a slider for the sound of live video. The button pulses while sound is loading. */
export function SoundControl({ isAudible }: SoundControlProps) {
  const isOn = isSoundOn.value
  const isLoading = isOn && !isAudible?.value
  return (
    <div class="sound-control">
      {isOn && (
        <input
          type="range"
          aria-label="Volume"
          title={`Volume: ${formatPercent(sliderVolume.value * 100)}`}
          min={MIN_VOLUME}
          max="1"
          step={VOLUME_STEP}
          value={sliderVolume.value}
          onInput={({ currentTarget }) => {
            sliderVolume.value = currentTarget.valueAsNumber
          }}
        />
      )}
      <button
        type="button"
        aria-label="Sound"
        aria-pressed={isOn}
        aria-busy={isLoading}
        title={isOn ? 'Mute' : 'Unmute'}
        onClick={() => {
          isSoundOn.value = !isOn
        }}
      >
        <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
          <path d="M4 9.5v5h3.5L12 18.5v-13L7.5 9.5z" fill="currentColor" stroke="none" />
          {isOn ? (
            <path d="M15 9a4.2 4.2 0 0 1 0 6M17.5 6.5a7.8 7.8 0 0 1 0 11" />
          ) : (
            <path d="m15.5 9.5 5 5m0-5-5 5" />
          )}
        </svg>
      </button>
    </div>
  )
}
