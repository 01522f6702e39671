import { effect, signal } from '@preact/signals'
import './pill.css'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'theme'
const theme = signal<Theme>(
  THEMES.find(name => name === localStorage.getItem(STORAGE_KEY)) ?? 'system',
)

effect(() => {
  document.documentElement.style.colorScheme = theme.value === 'system' ? 'light dark' : theme.value
  localStorage.setItem(STORAGE_KEY, theme.value)
})

/** SVG path data in a square of 24 by 24. */
const THEME_ICONS: Record<Theme, string> = {
  system: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z',
  light:
    'M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11 2h2v3.5h-2zm0 16.5h2V22h-2zM2 11h3.5v2H2zm16.5 0H22v2h-3.5zM4.2 5.6l1.4-1.4L8 6.6 6.6 8zM16 17.4l1.4-1.4 2.4 2.4-1.4 1.4zM4.2 18.4 6.6 16 8 17.4l-2.4 2.4zM16 6.6l2.4-2.4 1.4 1.4L17.4 8z',
  dark: 'M20.4 14.2A8.6 8.6 0 0 1 9.8 3.6a8.6 8.6 0 1 0 10.6 10.6z',
}

/** A button that switches to the next theme: system, light, dark. */
export function ThemeSwitch() {
  const nextIndex = (THEMES.indexOf(theme.value) + 1) % THEMES.length
  const next = THEMES[nextIndex]!
  const label = `Theme: ${theme.value}. Switch to ${next}`
  return (
    <button
      type="button"
      class="pill theme"
      aria-label={label}
      title={label}
      onClick={() => {
        theme.value = next
      }}
    >
      <svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
        <path d={THEME_ICONS[theme.value]} fill="currentColor" fill-rule="evenodd" />
      </svg>
    </button>
  )
}
