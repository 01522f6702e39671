import { useEffect, useRef } from 'preact/hooks'

/** Told of keys that nobody is typing with. Keys are as `KeyboardEvent.key` names them, letters in lower case. */
export function useKeys(keys: Record<string, () => void>): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      const { key } = event
      const action = current.current[key.length === 1 ? key.toLowerCase() : withShift(event)]
      if (!action) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

const withShift = ({ key, shiftKey }: KeyboardEvent) => (shiftKey ? `Shift+${key}` : key)

function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('input, select, textarea')) return true
  // It plays here, where the last button that was clicked keeps the focus; Enter presses that. Elsewhere it presses, too.
  return key === ' ' && target.matches('button') && !target.closest('.recorded-view')
}
