section! {
    /// What a plugin of the site found.
    PluginDetail {
        /// The plugin, by the name of its file.
        plugin: Option<String>,
        /// Which of its checks.
        check: Option<String>,
        /// How what it checks is now: healthy, degraded or unhealthy.
        check_state: Option<String>,
    }
}
