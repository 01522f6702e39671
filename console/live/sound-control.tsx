import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { formatPercent } from '../ui/format.ts'
import './sound-control.css'

const STORAGE_KEY = 'volume'
const MIN_VOLUME = 0.05

/** Off at first, because browsers do not let a page start with sound. */
const isSoundOn = signal(false)
/** Position of the slider, from 0.05 to 1. Stored in the browser. */
const sliderVolume = signal(loadVolume())
effect(() => localStorage.setItem(STORAGE_KEY, String(sliderVolume.value)))

/** Volume of live video, from 0 (sound is off) to 1. */
export const volume = computed(() => (isSoundOn.value ? sliderVolume.value : 0))

function loadVolume(): number {
  const stored = Number(localStorage.getItem(STORAGE_KEY) ?? 1)
  return stored >= MIN_VOLUME && stored <= 1 ? stored : 1
}

interface SoundControlProps {
  /** The video on display plays sound. */
  isAudible: ReadonlySignal<boolean> | undefined
}

/** Turns the sound of live video on and off, and sets its volume. */
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
          step="0.05"
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
