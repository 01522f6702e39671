import { useEffect, useRef } from 'preact/hooks'

/**
 * Runs the action for a key, except while the user is typing. Keys are named as in `KeyboardEvent.key`, letters in lower
 * case, other keys with the prefix `Shift+` if it is pressed.
 */
export function useKeyboardShortcuts(actions: Record<string, () => void>): void {
  const current = useRef(actions)
  current.current = actions
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isHandledByTarget(event)) return
      const action = current.current[toShortcut(event)]
      if (!action) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}

function toShortcut({ key, shiftKey }: KeyboardEvent): string {
  if (key.length === 1) return key.toLowerCase()
  return shiftKey ? `Shift+${key}` : key
}

function isHandledByTarget({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('input, select, textarea')) return true
  // Space presses a focused button, except in the recording view: there it plays, although the last clicked button
  // has the focus.
  return key === ' ' && target.matches('button') && !target.closest('.recording-view')
}
