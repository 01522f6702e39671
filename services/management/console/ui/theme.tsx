import { effect, signal } from '@preact/signals'
import './pill.css'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const KEY = 'theme'
const theme = signal<Theme>(themes.find(name => name === localStorage.getItem(KEY)) ?? 'system')

effect(() => {
  document.documentElement.style.colorScheme = theme.value === 'system' ? 'light dark' : theme.value
  localStorage.setItem(KEY, theme.value)
})

/** Goes round: as the system has it, light, dark. */
export function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  return (
    <button
      type="button"
      class="pill"
      title={`Theme: ${theme.value}. Switch to ${next}`}
      onClick={() => {
        theme.value = next
      }}
    >
      {theme.value}
    </button>
  )
}
