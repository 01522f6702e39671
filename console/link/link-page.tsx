import { Notice } from '../ui/notice.tsx'
import { Link, usePageTitle } from '../ui/router.tsx'

/** Shown instead of the live page after a link was opened that does not work. */
export function LinkPage() {
  usePageTitle('Link no longer valid')
  return (
    <Notice title="This link is no longer valid">
      A link opens the console once, in a browser on the appliance itself, and until Eyrie is
      restarted. Run <code>./eyrie open</code> on the appliance for another one, or{' '}
      <Link to="/sign-in">sign in</Link>.
    </Notice>
  )
}
