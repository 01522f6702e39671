import type { ReadonlySignal } from '@preact/signals'
import { percent } from '../ui/format.ts'
import './sound-control.css'
import { listening, loudness } from './volume.ts'

interface SoundControlProps {
  /** Whether the sound that is wanted is there already. */
  hearing: ReadonlySignal<boolean> | undefined
}

/** Turns the sound of live views on and off, and sets how loud it is. */
export function SoundControl({ hearing }: SoundControlProps) {
  const isOn = listening.value
  const isComing = isOn && !hearing?.value
  return (
    <div class="sound-control">
      {isOn && (
        <input
          type="range"
          aria-label="Volume"
          title={`Volume: ${percent(loudness.value * 100)}`}
          min="0.05"
          max="1"
          step="0.05"
          value={loudness.value}
          onInput={({ currentTarget }) => {
            loudness.value = currentTarget.valueAsNumber
          }}
        />
      )}
      <button
        type="button"
        aria-label="Sound"
        aria-pressed={isOn}
        aria-busy={isComing}
        title={isOn ? 'Turn the sound off' : 'Turn the sound on'}
        onClick={() => {
          listening.value = !isOn
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
