//! What sections of Common Platform Error Records (CPER) are about, by the GUID of their type.

/// In the words of Linux where it has some (drivers/firmware/efi/cper.c), as it then writes `section_type: WORDS`; it writes
/// `section type: unknown, GUID` for all others. Sources of the GUIDs: UEFI 2.10, table N.5 (section descriptor) and include/linux/cper.h;
/// of CXL's events that header; of NVIDIA's own drivers/acpi/apei/ghes-nvidia.c (the processors Grace and Vera).
const SECTIONS: &str = "\
9876ccad-47b4-4bdb-b65e-16f193c4f3db general processor error
dc3ea0b0-a144-4797-b95b-53fa242b6e1d IA32/X64 processor error
e19e3d16-bc11-11e4-9caa-c2051d5d46b0 ARM processor error
a5bc1114-6f64-4ede-b863-3e83ed7c83b1 memory error
61ec04fc-48e6-d813-25c9-8daa44750b12 memory error
d995e954-bbc1-430f-ad91-b44dcb3c6f35 PCIe error
81212a96-09ed-4996-9471-8d729c8e69ed Firmware Error Record Reference
80b9efb4-52b5-4de3-a777-68784b771048 CXL Protocol Error
c5753963-3b84-4095-bf78-eddad3f9c9dd PCI or PCI-X bus error
eb5e4685-ca66-4769-b6a2-26068b001326 PCI device error
5b51fef7-c79d-4434-8f1b-aa62de3e2c64 DMA remapping error
71761d37-32b2-45cd-a7d0-b0fedd93e8cf DMA remapping error (VT-d)
036f84e1-7f37-428c-a79e-575fdfaa84ec DMA remapping error (IOMMU)
fbcd0a77-c260-417f-85a9-088b1621eba6 CXL general media event
601dcbb3-9c06-4eab-b8af-4e9bfb5c9624 CXL DRAM event
fe927475-dd59-4339-a586-79bab113b774 CXL memory module event
6d5244f2-2712-11ec-bea7-cb3fdb95c786 error of an NVIDIA processor
e429faf1-3cb7-11d4-bca7-0080c73c8881 IA64 processor error
";

/// What the section of this GUID, in lower case, is about; `None` for one that nobody has named in public.
pub fn section_name(guid: &str) -> Option<&'static str> {
    let mut all = SECTIONS.lines().filter_map(|row| row.split_once(' '));
    all.find(|(known, _)| *known == guid).map(|(_, name)| name)
}
