//! Plans of a fixture host through the safe wrapper: the values, the errors, the threads.

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/hosts/{}.host", env!("CARGO_MANIFEST_DIR"), name)
}

fn no_options() -> &'static [&'static str] {
    &[]
}

fn host() -> cpubind::Host {
    cpubind::Host::folder(&fixture("a2-192cpu-8npu")).unwrap()
}

#[test]
fn a_plan_has_the_cpus_of_each_device() {
    let plan = host().plan(no_options()).unwrap();
    assert_eq!(plan.devices(), &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(plan.cpus(0, "irq"), Some(&[144, 145][..]));
    assert_eq!(plan.cpus(0, "pool").unwrap(), &(144..156).chain(168..180).collect::<Vec<_>>()[..]);
    assert_eq!(plan.memory_node(0), Some(6));
    assert_eq!(plan.quality(Some(0), "near_percent"), Some(50));
    assert_eq!(plan.rank_device(), None);
    assert!(plan.json().starts_with("{\"cpubind\": "));
    assert!(plan.format("map").unwrap().contains("node 0"));
    assert!(!plan.explain("npu3").unwrap().is_empty());
    assert!(host().topo(&["nics=yes"]).unwrap().starts_with("{\"cpubind\": "));
    assert!(host().topo(&["class=ffff"]).is_err());
}

#[test]
fn table_and_mask_agree_with_the_lists() {
    let plan = host().plan(&["rules=near"]).unwrap();
    for role in ["pool", "irq", "main", "acl", "release"] {
        let table = plan.table(role).unwrap();
        assert_eq!(table.len(), plan.devices().len());
        for (cpus, &device) in table.iter().zip(plan.devices()) {
            assert_eq!(Some(cpus), plan.cpus(device, role));
            let mask = plan.mask(device, role).unwrap();
            let from_mask: Vec<i32> = (0..mask.len() * 8)
                .filter(|i| mask[i / 8] >> (i % 8) & 1 == 1)
                .map(|i| i as i32)
                .collect();
            assert_eq!(from_mask, cpus);
        }
    }
}

#[test]
fn the_plan_names_the_device_of_a_rank() {
    assert_eq!(host().plan(&["rank=3"]).unwrap().rank_device(), Some(3));
}

#[test]
fn unknown_devices_and_roles_are_none() {
    let plan = host().plan(no_options()).unwrap();
    assert_eq!(plan.cpus(99, "pool"), None);
    assert_eq!(plan.cpus(0, "nothing"), None);
    assert_eq!(plan.cpus(0, "po\0ol"), None);
    assert!(plan.table("nothing").is_none());
    assert_eq!(plan.mask(99, "pool"), None);
    assert_eq!(plan.memory_node(99), None);
    assert_eq!(plan.quality(None, "nothing"), None);
}

#[test]
fn an_error_has_code_text_numbers_and_json() {
    let slices = ["allowed=0", "scope=own", "rules=reference", "strategy=global_slice"];
    let error = host().plan(&slices).unwrap_err();
    assert_eq!(error.code(), "too_few_cpus");
    assert_eq!(error.number("need"), Some(5));
    assert_eq!(error.number("have"), Some(0));
    assert_eq!(error.number("exit"), Some(1));
    assert_eq!(error.number("line"), None);
    assert!(error.to_string().contains("needs 5 CPUs"));
    assert!(error.json().contains("\"too_few_cpus\""));
    let shared: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert!(!shared.to_string().is_empty());
}

#[test]
fn wrong_arguments_are_usage() {
    assert_eq!(host().plan(&["colour=red"]).unwrap_err().code(), "usage");
    assert_eq!(host().plan(&["allowed"]).unwrap_err().code(), "usage");
    assert_eq!(host().plan(&["allowed=0\0"]).unwrap_err().code(), "usage");
    assert_eq!(
        host().plan(no_options()).unwrap().format("nothing").unwrap_err().code(),
        "usage"
    );
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = cpubind::Host::folder("/nowhere/at/all").unwrap_err();
    assert!(!error.text().is_empty());
}

#[test]
fn inputs_in_memory_make_a_host() {
    let mut host = cpubind::Host::empty().unwrap();
    assert!(host.plan(no_options()).is_err());
    let text = std::fs::read_to_string(fixture("a2-192cpu-8npu")).unwrap();
    for file in text.trim_end_matches("\nend\n").split("\nfile ").skip(1) {
        let (name, lines) = file.split_once("\n ").unwrap();
        let data = lines.replace("\n ", "\n") + "\n";
        host.put(name, data.as_bytes(), 0).unwrap();
    }
    let options = &["rank=0"];
    let read = cpubind::Host::folder(&fixture("a2-192cpu-8npu")).unwrap();
    assert_eq!(host.plan(options).unwrap().json(), read.plan(options).unwrap().json());
}

#[test]
fn threads_share_a_host_and_a_plan() {
    let host = host();
    let plan = host.plan(&["rules=near"]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let other = host.plan(&["rules=near"]).unwrap();
                    assert_eq!(other.json(), plan.json());
                    assert_eq!(other.cpus(3, "main"), plan.cpus(3, "main"));
                }
            });
        }
    });
}

#[test]
fn an_idle_pool_takes_the_next_request() {
    assert!(cpubind::abi() >= 1);
    assert!(!cpubind::version().is_empty());
    assert_eq!(cpubind::next_pool(0, 0, 1, 1, 0), "device");
    assert_eq!(cpubind::next_pool(0, 0, 0, 0, 0), "nobody");
    assert_eq!(cpubind::next_pool(64, 3, 8, 4, 8), "cpu");
    assert_eq!(cpubind::cpu_budget(64, 8, 4, 8), 4);
    assert_eq!(cpubind::cpu_budget(64, 8, 4, 0), 4);
    assert_eq!(cpubind::cpu_budget(64, 8, 0, 8), 0);
}
