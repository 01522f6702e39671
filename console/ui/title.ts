import { useEffect } from 'preact/hooks'

/** What the browser's tab and its history call the page while it is open. */
export function useTitle(what: string): void {
  useEffect(() => {
    document.title = `${what} – Eyrie`
  }, [what])
}
