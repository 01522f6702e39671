import { useEffect, useRef } from 'preact/hooks'

/**
 * Runs actions on key presses, except while the user is typing. Actions are named by
 * `KeyboardEvent.key`: letters in lower case, named keys with the prefix `Shift+` if Shift is
 * pressed.
 */
export function useKeyboardShortcuts(actions: Record<string, () => void>): void {
  const latestActions = useRef(actions)
  latestActions.current = actions
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isHandledByTarget(event)) return
      const action = latestActions.current[toShortcut(event)]
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
  // Space presses the focused button. In the recording view it plays or pauses, because there the
  // last clicked button still has the focus.
  return key === ' ' && target.matches('button') && !target.closest('.recording-view')
}
