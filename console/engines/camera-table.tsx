import type { PlacementOverview } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/api-request.ts'
import { capitalize } from '../ui/format.ts'
import { formatCores } from './format-placement.ts'

interface CameraTableProps {
  overview: PlacementOverview
  onChanged(): Promise<void>
}

/** Every camera with its channels, its engine, and who chooses the engine. */
export function CameraTable({ overview, onChanged }: CameraTableProps) {
  const error = useSignal('')
  const { sites, engines, sources } = overview
  if (sources.length === 0) return null
  const siteNames = new Map(sites.map(({ site_id, site_name }) => [site_id, site_name]))

  const change = async (source_id: string, fields: object) => {
    error.value = ''
    try {
      await callOperation('/placement/update-source', { source_id, ...fields })
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
    await onChanged()
  }

  return (
    <section class="panel" aria-label="Cameras">
      <h2>Cameras</h2>
      <table>
        <thead>
          <tr>
            <th>Camera</th>
            <th>Channels</th>
            <th class="figure">Cores</th>
            <th>Engine</th>
            <th>Who chooses the engine</th>
          </tr>
        </thead>
        <tbody>
          {sources.map(
            ({ source_id, source_name, site_id, engine_id, source_placement, cores, channels }) => (
              <tr key={source_id}>
                <td>
                  {source_name} <small>{siteNames.get(site_id)}</small>
                </td>
                <td>
                  {channels.length === 0 && '–'}
                  {channels.map(({ channel_id, channel_name, is_active }) => (
                    <span key={channel_id} class={`status ${is_active ? 'running' : ''}`}>
                      {channel_name}
                    </span>
                  ))}
                </td>
                <td class="figure" data-label="Cores">
                  {cores === null ? '–' : formatCores(cores)}
                </td>
                <td>
                  <select
                    aria-label={`Engine of ${source_name}`}
                    value={engine_id}
                    onChange={event => change(source_id, { engine_id: event.currentTarget.value })}
                  >
                    {engines.map(engine => (
                      <option key={engine.engine_id} value={engine.engine_id}>
                        {engine.engine_name}
                      </option>
                    ))}
                  </select>
                </td>
                <td>
                  <select
                    aria-label={`Who chooses the engine of ${source_name}`}
                    value={source_placement ?? ''}
                    onChange={event =>
                      change(source_id, { source_placement: event.currentTarget.value || null })
                    }
                  >
                    <option value="">as for the site</option>
                    <option value="pinned">a person (pinned)</option>
                    <option value="automatic">management (automatic)</option>
                  </select>
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
    </section>
  )
}
