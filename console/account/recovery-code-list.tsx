/** Shows new recovery codes until the user has stored them. */
export function RecoveryCodeList({ codes, onStored }: { codes: string[]; onStored(): void }) {
  return (
    <>
      <p>
        From now on, your sign-in needs a code from the app. If you lose the app, each of these
        recovery codes signs you in once. Store them in a safe place: they are not shown again.
      </p>
      <ol class="recovery-codes">
        {codes.map(code => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <button type="button" class="main" onClick={onStored}>
        I have stored them
      </button>
    </>
  )
}
