import type { Health } from '@eyrie/contract/health'
import { usePolling } from './api/use-polling.ts'
import { capitalize } from './ui/format.ts'
import './alarms.css'

const HEALTH_INTERVAL_MS = 5_000

/**
 * The problems of the management service that a person must solve, such as an engine that is
 * offline or a full disk.
 */
export function Alarms() {
  const { data: health } = usePolling<Health>('/health', HEALTH_INTERVAL_MS).value
  if (!health || health.alarms.length === 0) return null
  return (
    <ul class="alarms" aria-label="Alarms">
      {health.alarms.map(alarm => (
        <li key={alarm}>{capitalize(alarm)}</li>
      ))}
    </ul>
  )
}
