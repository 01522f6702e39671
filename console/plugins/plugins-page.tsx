import { Notice, Unreachable } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { EnginePanel } from './engine-panel.tsx'
import { useEnginePlugins } from './use-engine-plugins.ts'
import '../ui/controls.css'
import '../engines/engines-page.css'
import './plugins-page.css'

/** The plugins of each engine: what they can use, and which of them do not run, for superadmins. */
export function PluginsPage() {
  const { value: engines, error } = useEnginePlugins()
  usePageTitle('Plugins')
  if (!engines.value && error.value) return <Unreachable reason={error.value} />
  if (!engines.value) return <Notice title="Loading…" />

  return (
    <div class="engines plugins controls">
      {error.value && <Unreachable reason={error.value} isStale />}
      <h1>Plugins</h1>
      <p class="hint">
        Plugins are installed, switched and released on the machine of an engine, because management
        may not change the code that engines run. <code>eyrie plugin add</code> shows what a package
        asks for before it is installed.
      </p>
      {engines.value.length === 0 && <p class="hint">No engine is registered.</p>}
      {engines.value.map(listed => (
        <EnginePanel key={listed.engine.engine_id} {...listed} />
      ))}
    </div>
  )
}
