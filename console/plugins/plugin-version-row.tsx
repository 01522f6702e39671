import { describeCapabilities } from '@eyrie/contract/describe-capabilities'
import { describeSignature } from '@eyrie/contract/describe-signature'
import type { InstalledVersion, Plugin } from '@eyrie/contract/plugin'
import { capitalize } from '../ui/format.ts'

interface PluginVersionRowProps {
  plugin: Plugin
  /** A version of the plugin. */
  installed: InstalledVersion
}

const ORIGINS: Record<InstalledVersion['origin'], string> = {
  'built-in': 'built in',
  folder: 'from a folder of the owner',
  uploaded: 'uploaded',
}

/** A version of a plugin: whether it runs, why not, and what its elements declare. */
export function PluginVersionRow({ plugin, installed }: PluginVersionRowProps) {
  const { version, origin, license, signature, elements, capabilities = {} } = installed
  return (
    <tr>
      <td>
        {plugin.name} {version}
        <small class="line">
          {ORIGINS[origin]}, {license}
        </small>
        {signature && <small class="line">{describeSignature(signature)}</small>}
      </td>
      <td>
        <VersionState plugin={plugin} installed={installed} />
      </td>
      <td>
        {elements.map(element => (
          <div key={element} class="element">
            Element {element}
            <ul class="details">
              {describeCapabilities(capabilities[element]).map(line => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </div>
        ))}
      </td>
    </tr>
  )
}

/** Whether a version is active, and each of its problems with the remedy. */
function VersionState({ plugin, installed }: PluginVersionRowProps) {
  const { version, signature, quarantined = [], not_granted = [] } = installed
  const isActive = version === plugin.active
  const refusal = signature?.refused
  return (
    <>
      <span class={`status ${isActive && refusal === undefined ? 'running' : ''}`}>
        {isActive ? 'active' : 'inactive'}
      </span>
      {refusal !== undefined && (
        <div class="problem">
          <span class="status failed">does not start</span>
          <small class="line">{capitalize(refusal)}</small>
        </div>
      )}
      {quarantined.map(({ channel, reason, time }) => (
        <div key={channel} class="problem">
          <span class="status failed">in quarantine on channel {channel}</span>
          <small class="line">
            Since {new Date(time).toLocaleString()}: {reason}. Let it run again with{' '}
            <code>eyrie plugin release {plugin.name}</code>
          </small>
        </div>
      ))}
      {not_granted.length > 0 && (
        <div class="problem">
          <span class="status degraded">asks for more than was granted</span>
          <ul class="details">
            {not_granted.map(({ element, capability, description }) => (
              <li key={`${element} ${capability}`}>
                {element} {description}
              </li>
            ))}
          </ul>
          <small class="line">
            Grant it with{' '}
            <code>
              eyrie plugin use {plugin.name} {version} --grant
            </code>
          </small>
        </div>
      )}
    </>
  )
}
